/** The burst picture of a report: what it shows, and what hands do to it. */

import { firstAt } from "./charts";
import { BAR, height, lettersOf, Painter, rows, type View } from "./draw";
import { type Bars, type Moment, moment, type PictureColumns, type Sight, sights } from "./picture";
import { story } from "./story";

const LEAST_NS = 50;
const FRAMES_AT_FIRST = 60;
const CLICK_PX = 5;
const NEAR_PX = 6;

class BurstPicture {
  private readonly canvas: HTMLCanvasElement;
  private readonly told: HTMLElement;
  private readonly painter: Painter;
  private readonly moments: Moment[];
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private readonly buttons: HTMLButtonElement[] = [];
  private shown: Moment;
  private view: View = { fromNs: 0, untilNs: 1 };
  private frame = -1;
  private cursorNs: number | null = null;
  private movedPx = 0;
  private isAsked = false;

  constructor(
    private readonly root: HTMLElement,
    columns: PictureColumns,
  ) {
    this.canvas = this.element<HTMLCanvasElement>("canvas");
    this.told = this.element(".burst-story");
    this.painter = new Painter(this.canvas);
    this.moments = columns.moments.map(moment);
    this.shown = this.moments[0];
    const tools = this.element(".burst-tools");
    for (const one of this.moments) this.buttons.push(this.button(tools, one.title, () => this.open(one)));
    this.button(tools, "+", () => this.zoom(0.5)).setAttribute("aria-label", "closer");
    this.button(tools, "\u2212", () => this.zoom(2)).setAttribute("aria-label", "farther");
    this.button(tools, "whole", () => this.show(0, this.shown.lengthNs));
    this.listen();
    root.hidden = false;
    this.open(this.shown);
  }

  private element<T extends HTMLElement>(selector: string): T {
    const found = this.root.querySelector<T>(selector);
    if (!found) throw new Error(`no ${selector}`);
    return found;
  }

  private button(parent: HTMLElement, words: string, does: () => void): HTMLButtonElement {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", does);
    parent.append(made);
    return made;
  }

  private open(one: Moment): void {
    this.shown = one;
    this.buttons.forEach((button, place) => {
      button.setAttribute("aria-pressed", String(this.moments[place] === one));
    });
    this.canvas.setAttribute("aria-label", `The frames at each port around ${one.title}`);
    this.layOut();
    this.canvas.dataset.frames = String(one.number.length);
    const lane = one.lanes.find((each) => each.dropFrame.length) ?? one.lanes[0];
    const lengths = [...(lane?.sent.lengthNs ?? [])].sort((a, b) => a - b);
    const span = Math.min(one.lengthNs, FRAMES_AT_FIRST * (lengths[lengths.length >> 1] ?? 2000));
    this.choose(-1);
    this.show(one.atNs - span / 3, one.atNs + (span * 2) / 3);
  }

  /** Show a part of the moment, within it. */
  private show(fromNs: number, untilNs: number): void {
    const span = Math.min(Math.max(untilNs - fromNs, LEAST_NS), this.shown.lengthNs);
    const from = Math.min(Math.max(0, fromNs), this.shown.lengthNs - span);
    this.view = { fromNs: from, untilNs: from + span };
    this.canvas.dataset.fromNs = String(this.view.fromNs);
    this.canvas.dataset.untilNs = String(this.view.untilNs);
    this.ask();
  }

  private ask(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.paint();
    });
  }

  private layOut(): void {
    const letters = lettersOf(this.canvas);
    this.canvas.style.height = `${height(this.shown, letters)}px`;
    this.canvas.dataset.rows = JSON.stringify(rows(this.shown, letters));
  }

  private paint(): void {
    const { shown, view, frame, cursorNs } = this;
    // Letters may have another size since the last time, as a phone that is turned has other rules.
    this.layOut();
    this.painter.paint({ moment: shown, view, frame, cursorNs });
  }

  private zoom(times: number, share = 0.5): void {
    const span = this.view.untilNs - this.view.fromNs;
    const at = this.view.fromNs + span * share;
    this.show(at - span * times * share, at + span * times * (1 - share));
  }

  private pan(share: number): void {
    const by = (this.view.untilNs - this.view.fromNs) * share;
    this.show(this.view.fromNs + by, this.view.untilNs + by);
  }

  private choose(frame: number): void {
    this.frame = frame;
    this.canvas.dataset.frame = frame < 0 ? "" : String(this.shown.number[frame]);
    const hint =
      "Choose a frame to read what became of it. Ctrl and the wheel, a pinch or + and \u2212 zoom, " +
      "a drag or \u2190 \u2192 pan, n and p go from frame to frame.";
    this.told.textContent = frame < 0 ? hint : story(this.shown, frame);
    this.ask();
  }

  /** Choose the next frame or the one before, of none the first in sight, and have it in sight. */
  private step(by: number): void {
    const last = this.shown.number.length - 1;
    if (last < 0) return;
    this.choose(this.frame < 0 ? this.firstInSight() : Math.min(Math.max(0, this.frame + by), last));
    const seen = [...sights(this.shown)].filter((one) => one.frame === this.frame);
    if (!seen.length || seen.some((one) => this.isInSight(one))) return;
    const [{ fromNs, untilNs }] = seen.sort((one, other) => one.fromNs - other.fromNs);
    const half = (this.view.untilNs - this.view.fromNs) / 2;
    const middle = (fromNs + untilNs) / 2;
    this.show(middle - half, middle + half);
  }

  private isInSight({ fromNs, untilNs }: Sight): boolean {
    return untilNs > this.view.fromNs && fromNs < this.view.untilNs;
  }

  private firstInSight(): number {
    let first = -1;
    for (const one of sights(this.shown)) {
      if ((first < 0 || one.frame < first) && this.isInSight(one)) first = one.frame;
    }
    return Math.max(0, first);
  }

  private timeAt(x: number): number {
    const { fromNs, untilNs } = this.view;
    return fromNs + (x / this.canvas.clientWidth) * (untilNs - fromNs);
  }

  /** The frame nearest to a place of the canvas, -1 for none. */
  private frameAt(x: number, y: number): number {
    const at = this.timeAt(x);
    const near = this.timeAt(x + NEAR_PX) - at;
    let best = -1;
    let distance = near;
    const consider = (bars: Bars): void => {
      for (let place = firstAt(bars.startNs, at - bars.longestNs - near); place < bars.frame.length; place++) {
        const start = bars.startNs[place];
        if (start > at + near) break;
        const away = Math.max(start - at, at - start - bars.lengthNs[place], 0);
        if (away < distance) [best, distance] = [bars.frame[place], away];
      }
    };
    rows(this.shown, lettersOf(this.canvas)).forEach((place, number) => {
      if (y < place.top || y > place.bottom + 4) return;
      const lane = this.shown.lanes[number];
      for (let drop = firstAt(lane.dropAtNs, at - near); drop < lane.dropFrame.length; drop++) {
        const away = Math.abs(lane.dropAtNs[drop] - at);
        if (lane.dropAtNs[drop] > at + near) break;
        if (y >= place.received && away < distance) [best, distance] = [lane.dropFrame[drop], away];
      }
      if (y < place.sent + BAR + 1) consider(lane.sent);
      else if (y < place.received + BAR + 2) consider(lane.received);
    });
    return best;
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      if (!this.pointers.size) this.movedPx = 0;
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => {
      const alone = this.pointers.delete(event.pointerId) && !this.pointers.size;
      if (alone && this.movedPx < CLICK_PX) this.choose(this.frameAt(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => {
      this.cursorNs = null;
      this.ask();
    });
    new ResizeObserver(() => this.ask()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ask());
    // On paper in its colours: the page's own are others on a dark screen.
    matchMedia("print").addEventListener("change", () => this.paint());
  }

  /** As a pinch of a touch pad, or with Ctrl, it zooms; across it pans. Else the page scrolls. */
  private wheel(event: WheelEvent): void {
    const isWhole = this.view.untilNs - this.view.fromNs >= this.shown.lengthNs;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.004), event.offsetX / this.canvas.clientWidth);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !isWhole) {
      event.preventDefault();
      this.pan(event.deltaX / this.canvas.clientWidth);
    }
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.cursorNs = this.timeAt(event.offsetX);
      this.ask();
      return;
    }
    const now = { x: event.offsetX, y: event.offsetY };
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.movedPx += Math.hypot(now.x - before.x, now.y - before.y);
    if (other) {
      const [apart, was] = [Math.abs(now.x - other.x), Math.abs(before.x - other.x)];
      if (apart > 8 && was > 8) this.zoom(was / apart, (now.x + other.x) / 2 / this.canvas.clientWidth);
    } else if (this.movedPx >= CLICK_PX) {
      this.pan((before.x - now.x) / this.canvas.clientWidth);
    }
    this.pointers.set(event.pointerId, now);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const does: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.2),
      ArrowRight: () => this.pan(0.2),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      Home: () => this.show(0, this.shown.lengthNs),
      n: () => this.step(1),
      p: () => this.step(-1),
      Escape: () => this.choose(-1),
    };
    const wanted = does[event.key];
    if (!wanted) return;
    event.preventDefault();
    wanted();
  }
}

/** Draw those that are not drawn yet. */
export function drawBursts(): void {
  document.querySelectorAll<HTMLElement>(".burst[hidden]").forEach((root) => {
    const data = root.querySelector("script[type='application/json']")?.textContent;
    if (data) new BurstPicture(root, JSON.parse(data) as PictureColumns);
  });
}
