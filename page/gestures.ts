/** Hands on a chart, beside those that uPlot knows: fingers, the wheel, keys. */

import type uPlot from "uplot";
import type { Link } from "./link";

const APART_PX = 8;

export class Gestures {
  private readonly fingers = new Map<number, number>();

  constructor(
    box: HTMLElement,
    private readonly plot: uPlot,
    private readonly link: Link,
    private readonly tell: () => void,
  ) {
    const { over } = plot;
    over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    over.addEventListener("pointerdown", (event) => this.finger(event));
    over.addEventListener("pointermove", (event) => this.slide(event));
    for (const kind of ["pointerup", "pointercancel"] as const) {
      over.addEventListener(kind, (event) => this.fingers.delete(event.pointerId));
    }
    box.addEventListener("keydown", (event) => this.key(event));
  }

  /** As a pinch of a touch pad, or with Ctrl, it zooms; across it pans. Else the page scrolls. */
  private wheel(event: WheelEvent): void {
    const { link, plot } = this;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      link.zoom(Math.exp(event.deltaY * 0.004), plot.posToVal(event.offsetX, "x"));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !link.isWhole) {
      event.preventDefault();
      link.pan(event.deltaX / plot.over.clientWidth);
    }
  }

  private finger(event: PointerEvent): void {
    if (event.pointerType === "mouse") return;
    this.fingers.set(event.pointerId, event.offsetX);
    this.link.point(this.plot.posToVal(event.offsetX, "x"));
  }

  /** One finger moves the cursor, two zoom and pan. */
  private slide(event: PointerEvent): void {
    const before = this.fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = event.offsetX;
    const { link, plot } = this;
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      link.point(plot.posToVal(now, "x"));
    } else if (Math.abs(now - other) > APART_PX && Math.abs(before - other) > APART_PX) {
      const times = Math.abs(before - other) / Math.abs(now - other);
      const [middle, was] = [(now + other) / 2, (before + other) / 2];
      link.zoom(times, plot.posToVal(middle, "x"));
      link.pan((was - middle) / plot.over.clientWidth);
    }
    this.fingers.set(event.pointerId, now);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { link } = this;
    const step = link.axis.names.length ? 1 : (link.until - link.from) / (event.shiftKey ? 10 : 100);
    const move = (by: number) => () => {
      link.move((link.at ?? (link.from + link.until) / 2) + by);
      this.tell();
    };
    const does: Record<string, () => void> = {
      ArrowLeft: move(-step),
      ArrowRight: move(step),
      "+": () => link.zoom(0.5),
      "=": () => link.zoom(0.5),
      "-": () => link.zoom(2),
      PageUp: () => link.pan(-0.5),
      PageDown: () => link.pan(0.5),
      Home: () => link.showAll(),
      Escape: () => {
        link.showAll();
        link.point(null);
      },
    };
    const wanted = does[event.key];
    if (!wanted) return;
    event.preventDefault();
    wanted();
  }
}
