/** One chart, drawn by uPlot: its legend tells the values at the cursor. */

import uPlot from "uplot";
import { type Chart, firstAt, lastAt, placeIn } from "./charts";
import { Gestures } from "./gestures";
import type { Link, Linked } from "./link";
import { amount, placeOf, tick } from "./words";

const IN_SIGHT = 1.6;
const AXIS_FONT = 11;
const NARROW_PX = 560;
/** Dotted lines that are closer would fill the plot. */
const MARKS_APART_PX = 3;

type Colour = (name: string) => string;

export class Plot implements Linked {
  private readonly plot: uPlot;
  private readonly outputs: HTMLOutputElement[];
  private readonly colour: Colour;

  constructor(
    private readonly chart: Chart,
    private readonly link: Link,
    private readonly box: HTMLElement,
    figure: HTMLElement,
    aloud: HTMLElement,
  ) {
    const style = getComputedStyle(box);
    this.colour = (name) => style.getPropertyValue(name).trim();
    this.outputs = [...figure.querySelectorAll("output")];
    const alike = chart.lines.every((line) => line.x === chart.lines[0].x);
    const data = alike
      ? [chart.lines[0]?.x ?? [0], ...chart.lines.map((line) => line.y)]
      : uPlot.join(chart.lines.map((line) => [line.x, line.y] as unknown as uPlot.AlignedData));
    this.plot = new uPlot(this.options(style.fontFamily), data as uPlot.AlignedData, box);
    this.plot.over.style.touchAction = "pan-y";
    box.dataset.points = String(chart.lines.reduce((sum, line) => sum + line.y.length, 0));
    new Gestures(box, this.plot, link, () => {
      aloud.textContent = `${placeOf(chart.x, link.at ?? 0, link.until - link.from)}. ${this.told()}`;
    });
    const keys = [...figure.querySelectorAll<HTMLButtonElement>("button.key")];
    keys.forEach((key, number) => {
      key.setAttribute("aria-pressed", "true");
      key.addEventListener("click", () => {
        const shown = key.getAttribute("aria-pressed") !== "true";
        key.setAttribute("aria-pressed", String(shown));
        this.plot.setSeries(number + 1, { show: shown });
      });
    });
    this.show(link.from, link.until);
    new ResizeObserver(() => this.fit()).observe(box);
  }

  show(from: number, until: number): void {
    this.box.dataset.from = String(from);
    this.box.dataset.until = String(until);
    this.plot.setScale("x", { min: from, max: until });
  }

  point(at: number | null): void {
    const left = at === null ? -10 : this.plot.valToPos(at, "x");
    this.plot.setCursor({ left, top: at === null ? -10 : 1 }, false);
    const values = this.values(at);
    this.outputs.forEach((output, number) => {
      output.textContent = values[number];
    });
  }

  redraw(): void {
    this.plot.redraw(false, true);
  }

  told(): string {
    const named = [...this.chart.lines, ...this.chart.spans];
    const values = this.values(this.link.at);
    return `${this.chart.title}: ${named.map((one, number) => `${one.name} ${values[number] || "nothing"}`).join(", ")}`;
  }

  private fit(): void {
    const width = this.box.clientWidth;
    // On paper the drawing is as wide as the sheet by itself.
    if (!width || width === this.plot.width || matchMedia("print").matches) return;
    this.plot.setSize({ width, height: this.plot.height });
  }

  /** What each line, and each of the strokes, is at a place. */
  private values(at: number | null): string[] {
    const { lines, spans, y } = this.chart;
    if (at === null) return [...lines, ...spans].map(() => "");
    const points = lines.map((line) => {
      const place = placeIn(this.chart, line, at);
      return place < 0 ? "" : amount(y, line.y[place]);
    });
    const strokes = spans.map((one) => {
      const place = lastAt(one.x, at);
      return place < 0 ? "" : `to ${amount(y, one.low[place] + one.size[place])}`;
    });
    return [...points, ...strokes];
  }

  private options(font: string): uPlot.Options {
    const { chart, colour } = this;
    const width = this.box.clientWidth;
    const small = `${AXIS_FONT}px ${font}`;
    const axis = {
      stroke: () => colour("--dim"),
      font: small,
      labelFont: small,
      ticks: { stroke: () => colour("--rule"), size: 4 },
    };
    const grid = { stroke: () => colour("--rule"), width: 1 };
    return {
      width,
      height: chart.height + 52,
      padding: [15, 8, 0, 0],
      legend: { show: false },
      cursor: {
        x: true,
        y: false,
        drag: { x: true, y: false, setScale: false },
        // No ring where a line has ended.
        hover: { prox: (_, number, __, at) => (placeIn(chart, chart.lines[number - 1], at) < 0 ? 0 : null) },
        points: { size: 7, width: 1.5, stroke: (_, number) => colour(`--c${chart.lines[number - 1].colour}`) },
        // Which of the linked charts is pointed at makes no difference: the link tells all of them.
        bind: {
          dblclick: () => () => {
            this.link.showAll();
            return null;
          },
          mouseleave: () => () => {
            this.link.point(null);
            return null;
          },
        },
      },
      scales: {
        x: { time: false, range: (_, from, until) => [from, until] },
        y: { range: (_, low, high) => this.heights(low, high) },
      },
      axes: [
        {
          ...axis,
          grid,
          label: chart.x.label,
          labelSize: 15,
          labelGap: 0,
          size: 22,
          gap: 3,
          space: (_plot, _axis, from, until, px) => this.room(from, until, px),
          incrs: chart.x.names.length ? [1] : steps(chart.x.perUnit),
          values: (_plot, places, _axis, _space, step) =>
            places.map((place) =>
              chart.x.names.length
                ? (chart.x.names[place] ?? "")
                : tick(place / chart.x.perUnit, step / chart.x.perUnit),
            ),
        },
        {
          ...axis,
          grid,
          size: width < NARROW_PX ? 48 : 62,
          gap: 3,
          space: 26,
          incrs: steps(chart.y.perUnit),
          values: (_plot, places, _axis, _space, step) =>
            places.map((place) => tick(place / chart.y.perUnit, step / chart.y.perUnit)),
        },
      ],
      series: [
        {},
        ...chart.lines.map(
          (line): uPlot.Series => ({
            label: line.name,
            stroke: () => colour(`--c${line.colour}`),
            width: 1.5,
            dash: line.dashed ? [7, 5] : undefined,
            spanGaps: true,
            paths:
              line.drawn === "step"
                ? uPlot.paths.stepped?.({ align: 1 })
                : line.drawn === "dots"
                  ? () => null
                  : undefined,
            points:
              line.drawn === "dots"
                ? { show: true, size: 4, fill: () => colour(`--c${line.colour}`) }
                : { size: 4, space: 30, fill: () => colour("--page") },
          }),
        ),
      ],
      hooks: {
        drawClear: [(plot) => this.drawRanges(plot)],
        draw: [(plot) => this.drawSpans(plot), (plot) => this.drawLevels(plot), (plot) => this.drawMarks(plot)],
        setCursor: [(plot) => this.pointed(plot)],
        setSelect: [(plot) => this.selected(plot)],
      },
    };
  }

  private pointed(plot: uPlot): void {
    const left = plot.cursor.left ?? -1;
    this.link.point(left < 0 ? null : plot.posToVal(left, "x"));
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 3) return;
    const [from, until] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.link.show(from, until);
  }

  /** From where to where y goes, so that what is shown fills it. */
  private heights(dataLow: number | null, dataHigh: number | null): [number, number] {
    const { chart, link } = this;
    let [low, high] = [dataLow ?? Infinity, dataHigh ?? -Infinity];
    for (const spans of chart.spans) {
      const last = lastAt(spans.x, link.until);
      for (let place = firstAt(spans.x, link.from); place <= last; place++) {
        low = Math.min(low, spans.low[place]);
        high = Math.max(high, spans.low[place] + spans.size[place]);
      }
    }
    if (!chart.fromZero) {
      if (low > high) return [0, chart.y.high];
      const room = (high - low) * 0.04 || 1;
      return [link.isWhole ? Math.min(0, low) : low - room, high + room];
    }
    if (link.isWhole) high = Math.max(high, chart.y.high);
    if (!(high > 0)) high = chart.y.high;
    const levels = chart.levels.map((level) => level[1]);
    // Of a range the nearer end first: where that is in sight, the other is so more easily.
    const ends = chart.ranges.flatMap((range) => [range.low ?? 0, range.high ?? 0]);
    for (const at of [...levels, ...ends].sort((one, other) => one - other)) {
      if (at <= high * IN_SIGHT) high = Math.max(high, at);
    }
    // The name of a level stands above it.
    return [0, high * (levels.length ? 1.14 : 1.04)];
  }

  /** How far apart ticks of x are, so that their words do not meet. */
  private room(from: number, until: number, px: number): number {
    const { names, perUnit } = this.chart.x;
    if (names.length) return Math.max(40, Math.max(...names.map((name) => name.length)) * 6.5 + 10);
    const span = (until - from) / perUnit;
    const step = (span / px) * 70;
    const decimals = Math.max(0, Math.ceil(-Math.log10(step)));
    const longest = tick(until / perUnit, 10 ** -decimals);
    return Math.max(44, longest.length * 6.5 + 14);
  }

  private drawRanges(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    inside(plot, () => {
      for (const range of this.chart.ranges) {
        const left = plot.valToPos(range.begins, "x", true);
        const right = plot.valToPos(range.ends, "x", true);
        const bottom = range.low === null ? bbox.top + bbox.height : plot.valToPos(range.low, "y", true);
        const top = range.high === null ? bbox.top : plot.valToPos(range.high, "y", true);
        ctx.fillStyle = ctx.strokeStyle = this.colour(`--c${range.colour}`);
        ctx.globalAlpha = 0.13;
        ctx.fillRect(left, top, right - left, Math.max(ratio, bottom - top));
        ctx.globalAlpha = 0.55;
        ctx.lineWidth = ratio;
        ctx.setLineDash([3 * ratio, 3 * ratio]);
        ctx.beginPath();
        for (const [end, y] of [
          [range.low, bottom],
          [range.high, top],
        ] as const) {
          if (end === null) continue;
          ctx.moveTo(left, y);
          ctx.lineTo(right, y);
        }
        ctx.stroke();
      }
    });
  }

  /** Those that would be the same pixels are drawn once, and none is too short to see. */
  private drawSpans(plot: uPlot): void {
    const { ctx } = plot;
    const ratio = uPlot.pxRatio;
    inside(plot, () => {
      for (const spans of this.chart.spans) {
        ctx.strokeStyle = this.colour(`--c${spans.colour}`);
        ctx.lineWidth = 2 * ratio;
        ctx.beginPath();
        const last = lastAt(spans.x, this.link.until);
        let [column, reached] = [-1, Infinity];
        for (let place = firstAt(spans.x, this.link.from); place <= last; place++) {
          const x = Math.round(plot.valToPos(spans.x[place], "x", true));
          const low = Math.round(plot.valToPos(spans.low[place], "y", true));
          const high = Math.min(
            Math.round(plot.valToPos(spans.low[place] + spans.size[place], "y", true)),
            low - 2 * ratio,
          );
          if (x === column && high >= reached) continue;
          [column, reached] = [x, high];
          ctx.moveTo(x, low);
          ctx.lineTo(x, high);
        }
        ctx.stroke();
      }
    });
  }

  /** Each a line with its name above, moved down where names would meet; no line goes through a name. */
  private drawLevels(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    const names: [string, number][] = [];
    let free = bbox.top + 10 * ratio;
    inside(plot, () => {
      ctx.strokeStyle = this.colour("--dim");
      ctx.lineWidth = ratio;
      ctx.setLineDash([6 * ratio, 4 * ratio]);
      for (const [name, at] of [...this.chart.levels].sort((one, other) => other[1] - one[1])) {
        const y = Math.round(plot.valToPos(at, "y", true)) + 0.5;
        if (y < bbox.top) continue;
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
        names.push([name, Math.max(free, y - 3 * ratio)]);
        free = names[names.length - 1][1] + 12 * ratio;
      }
    });
    ctx.save();
    ctx.font = plot.axes[0].font?.[0] ?? ctx.font;
    ctx.textAlign = "right";
    ctx.textBaseline = "alphabetic";
    for (const [name, y] of names) this.words(ctx, name, bbox.left + bbox.width - 4 * ratio, y);
    ctx.restore();
  }

  /** Each a line where it is told from the one before, with its name where that does not run into another. */
  private drawMarks(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.font = plot.axes[0].font?.[0] ?? ctx.font;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.strokeStyle = this.colour("--dim");
    ctx.lineWidth = ratio;
    let free = -Infinity;
    let before = -Infinity;
    for (const [name, at] of this.chart.marks) {
      const x = Math.round(plot.valToPos(at, "x", true)) + 0.5;
      if (x < bbox.left || x > bbox.left + bbox.width || x - before < MARKS_APART_PX * ratio) continue;
      before = x;
      ctx.setLineDash([ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top - 4 * ratio);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const wide = ctx.measureText(name).width;
      const left = Math.min(x + 3 * ratio, bbox.left + bbox.width - wide);
      if (left < free) continue;
      ctx.setLineDash([]);
      this.words(ctx, name, left, bbox.top - 4 * ratio);
      free = left + wide + 8 * ratio;
    }
    ctx.restore();
  }

  private words(ctx: CanvasRenderingContext2D, words: string, x: number, y: number): void {
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineJoin = "round";
    ctx.lineWidth = 3 * uPlot.pxRatio;
    ctx.strokeStyle = this.colour("--page");
    ctx.strokeText(words, x, y);
    ctx.fillStyle = this.colour("--ink");
    ctx.fillText(words, x, y);
    ctx.restore();
  }
}

/** Draw nothing outside of the plot's area. */
function inside(plot: uPlot, draw: () => void): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw();
  ctx.restore();
}

/** The steps of ticks: 1, 2 and 5 times powers of ten of a unit. */
function steps(unit: number): number[] {
  const powers = Array.from({ length: 28 }, (_, number) => number - 12);
  return powers.flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`) * unit));
}
