/** A moment on a canvas: a lane for each port, time from left to right. */

import { firstAt } from "./charts";
import { type Bars, fillAt, KIND, type Lane, type Moment } from "./picture";
import { instant, time } from "./story";
import { grouped } from "./words";

export interface View {
  fromNs: number;
  untilNs: number;
}

/** Where the parts of a lane are, in CSS pixels. */
export interface Rows {
  top: number;
  sent: number;
  received: number;
  fill: number;
  fillHeight: number;
  bottom: number;
}

export interface Scene {
  moment: Moment;
  view: View;
  frame: number;
  cursorNs: number | null;
}

export const BAR = 11;
const LETTERS = 12;
/** What the axis and the label of a lane take beside the height of letters. */
const AXIS = 8;
const LABEL = 5;
const GAP = 9;
const FILL = 40;
const PEAK = 1.5;
const COLOURS = ["--c0", "--c2", "--c5", "--dim"];

/** How high letters are, in CSS pixels: slides, which are seen from afar, ask for larger ones. */
export function lettersOf(canvas: HTMLCanvasElement): number {
  return Number.parseFloat(getComputedStyle(canvas).getPropertyValue("--letters")) || LETTERS;
}

export function rows(moment: Moment, letters: number): Rows[] {
  let top = letters + AXIS;
  return moment.lanes.map((lane) => {
    const sent = top + letters + LABEL;
    const received = sent + BAR + 2;
    const fill = received + BAR + 3;
    const fillHeight = lane.holds ? FILL : 0;
    const place = { top, sent, received, fill, fillHeight, bottom: fill + fillHeight };
    top = place.bottom + GAP;
    return place;
  });
}

export function height(moment: Moment, letters: number): number {
  const places = rows(moment, letters);
  return places.length ? places[places.length - 1].bottom + GAP : letters + AXIS;
}

type Colour = (name: string) => string;

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private letters = LETTERS;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no canvas");
    this.context = context;
  }

  paint(scene: Scene): void {
    const { canvas, context } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    this.letters = lettersOf(canvas);
    const tall = height(scene.moment, this.letters);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(tall * ratio);
    }
    const style = getComputedStyle(canvas);
    const known = new Map<string, string>();
    const colour: Colour = (name) => {
      let value = known.get(name);
      if (value === undefined) {
        value = style.getPropertyValue(name).trim();
        known.set(name, value);
      }
      return value;
    };
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colour("--page");
    context.fillRect(0, 0, width, tall);
    context.font = `${this.letters}px ${style.fontFamily}`;
    this.axis(scene, width, tall, colour);
    rows(scene.moment, this.letters).forEach((place, number) => {
      this.lane(scene, scene.moment.lanes[number], place, width, colour);
    });
    this.cursor(scene, width, tall, colour);
  }

  private axis({ moment, view }: Scene, width: number, tall: number, colour: Colour): void {
    const { context } = this;
    const span = view.untilNs - view.fromNs;
    const least = (span * 7.5 * this.letters) / width;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = Math.max(1, [1, 2, 5, 10].map((times) => times * power).find((one) => one >= least) ?? least);
    context.textBaseline = "middle";
    const first = Math.ceil((view.fromNs - moment.atNs) / step) * step;
    for (let at = first; at + moment.atNs <= view.untilNs; at += step) {
      const x = ((at + moment.atNs - view.fromNs) / span) * width;
      context.fillStyle = colour("--rule");
      context.fillRect(Math.round(x), this.letters + AXIS - 4, 1, tall);
      context.fillStyle = colour("--dim");
      const words = at === 0 ? "0" : `${at > 0 ? "+" : "\u2212"}${label(Math.abs(at))}`;
      const half = context.measureText(words).width / 2;
      context.fillText(words, Math.min(Math.max(x - half, 0), width - 2 * half), this.middle);
    }
  }

  private lane(scene: Scene, lane: Lane, place: Rows, width: number, colour: Colour): void {
    const { context } = this;
    const { view, cursorNs } = scene;
    const scale = width / (view.untilNs - view.fromNs);
    const x = (ns: number): number => (ns - view.fromNs) * scale;
    context.fillStyle = colour("--soft");
    context.fillRect(0, place.sent, width, BAR);
    context.fillRect(0, place.received, width, BAR);
    for (let number = 0; number < lane.pauseNs.length; number++) {
      const left = x(lane.pauseAtNs[number]);
      const right = x(lane.pauseAtNs[number] + lane.pauseNs[number]);
      if (right < 0 || left > width) continue;
      context.globalAlpha = 0.45;
      context.fillStyle = colour("--skip");
      context.fillRect(left, place.sent - 2, Math.max(1, right - left), BAR + 4);
      context.globalAlpha = 1;
    }
    this.bars(scene, lane.sent, place.sent, width, colour);
    this.bars(scene, lane.received, place.received, width, colour);
    if (lane.holds) this.fill(lane, place, view, width, colour);
    let last = -9;
    for (let number = firstAt(lane.dropAtNs, view.fromNs); number < lane.dropFrame.length; number++) {
      const at = x(lane.dropAtNs[number]);
      if (at > width) break;
      const chosen = lane.dropFrame[number] === scene.frame;
      if (at - last < 1 && !chosen) continue;
      last = at;
      context.fillStyle = colour("--fail");
      context.fillRect(at - (chosen ? 2 : 0.75), place.received, chosen ? 4 : 1.5, place.bottom - place.received);
      context.beginPath();
      context.moveTo(at - 5, place.received);
      context.lineTo(at + 5, place.received);
      context.lineTo(at, place.received + 8);
      context.fill();
    }
    const name = lane.label;
    context.textBaseline = "middle";
    context.fillStyle = colour("--ink");
    context.font = context.font.replace(/^(bold )?/, "bold ");
    context.fillText(name, 0, place.top + this.middle);
    const used = context.measureText(name).width + 8;
    context.font = context.font.replace(/^bold /, "");
    context.fillStyle = colour("--dim");
    const words = this.words(lane, scene.moment.lengthNs, cursorNs, width - used);
    context.fillText(words, used, place.top + this.middle, width - used);
  }

  /** Of a line of letters, below its top. */
  private get middle(): number {
    return (this.letters * 2) / 3;
  }

  /** As much as there is room for: what was dropped to the last. */
  private words(lane: Lane, lengthNs: number, cursorNs: number | null, room: number): string {
    const now = cursorNs === null ? `at most ${grouped(lane.highestBytes)}` : grouped(fillAt(lane, cursorNs));
    const held = lane.holds ? `${lane.holds}: ${now} B` : "";
    const limit = lane.holds && lane.limitBytes ? ` of ${size(lane.limitBytes)}` : "";
    const lost = lane.dropFrame.length ? `${grouped(lane.dropFrame.length)} dropped` : "";
    const during = lost ? ` in ${label(lengthNs)}` : "";
    const paused = lane.pauseNs.length ? "paused" : "";
    const choices = [
      [held + limit, lost + during, paused],
      [held + limit, lost + during],
      [held, lost + during],
      [held, lost],
      [lost || held],
    ].map((parts) => parts.filter(Boolean).join(", "));
    const fits = (words: string): boolean => this.context.measureText(words).width <= room;
    return choices.find(fits) ?? choices[choices.length - 1];
  }

  private bars(scene: Scene, bars: Bars, top: number, width: number, colour: Colour): void {
    const { context } = this;
    const { view, moment, frame } = scene;
    const scale = width / (view.untilNs - view.fromNs);
    let painted = -1;
    let before = -1;
    let place = firstAt(bars.startNs, view.fromNs - bars.longestNs);
    for (; place < bars.frame.length; place++) {
      const left = (bars.startNs[place] - view.fromNs) * scale;
      if (left > width) break;
      const right = left + bars.lengthNs[place] * scale;
      const kind = moment.kind[bars.frame[place]];
      const chosen = bars.frame[place] === frame;
      // Several in a pixel are one mark.
      if (right < painted + 1 && kind === before && !chosen) {
        const next = firstAt(bars.startNs, view.fromNs + (painted + 1) / scale - bars.longestNs);
        // One that is chosen is seen, however many are there.
        if (frame < 0) place = Math.max(place, next - 1);
        continue;
      }
      context.fillStyle = chosen ? colour("--c3") : colour(COLOURS[kind] ?? COLOURS[KIND.other]);
      const wide = right - left;
      context.fillRect(left, top, Math.max(0.75, wide > 4 ? wide - 1 : wide), BAR);
      if (chosen) {
        context.strokeStyle = colour("--ink");
        context.lineWidth = 2;
        context.strokeRect(left - 1, top - 1, Math.max(3, wide + 1), BAR + 2);
      }
      painted = right;
      before = kind;
    }
  }

  private fill(lane: Lane, place: Rows, view: View, width: number, colour: Colour): void {
    const { context } = this;
    const scale = width / (view.untilNs - view.fromNs);
    // A limit that nothing comes near would make a line of the rest.
    const near = lane.limitBytes > 0 && lane.highestBytes > lane.limitBytes / 8;
    const top = near ? Math.max(lane.limitBytes, lane.highestBytes) * 1.08 : lane.highestBytes * 1.2;
    const y = (bytes: number): number => place.bottom - (bytes / top) * place.fillHeight;
    context.beginPath();
    context.moveTo(0, place.bottom);
    let level = fillAt(lane, view.fromNs);
    let before = level;
    let highest = level;
    let column = 0;
    const peaks: [number, number][] = [];
    const climb = (): void => {
      context.lineTo(column, y(highest));
      context.lineTo(column, y(level));
      // What fills and empties in an instant has no width that could be filled.
      if (highest > Math.max(before, level)) peaks.push([column, highest]);
    };
    for (let number = firstAt(lane.fillAtNs, view.fromNs); number < lane.fillBytes.length; number++) {
      const at = (lane.fillAtNs[number] - view.fromNs) * scale;
      if (at > width) break;
      // Of what is within a pixel the highest is seen.
      if (at - column >= 1) {
        climb();
        context.lineTo(at, y(level));
        before = level;
        column = at;
        highest = 0;
      }
      level = lane.fillBytes[number];
      highest = Math.max(highest, level);
    }
    climb();
    context.lineTo(width, y(level));
    context.lineTo(width, place.bottom);
    context.globalAlpha = 0.5;
    context.fillStyle = colour("--c6");
    context.fill();
    context.globalAlpha = 1;
    for (const [at, bytes] of peaks) context.fillRect(at - PEAK / 2, y(bytes), PEAK, place.bottom - y(bytes));
    context.fillStyle = colour("--rule");
    context.fillRect(0, place.bottom, width, 1);
    if (near) {
      context.strokeStyle = colour("--fail");
      context.lineWidth = 1;
      context.setLineDash([6, 4]);
      context.beginPath();
      context.moveTo(0, y(lane.limitBytes));
      context.lineTo(width, y(lane.limitBytes));
      context.stroke();
      context.setLineDash([]);
    }
  }

  private cursor({ moment, view, cursorNs }: Scene, width: number, tall: number, colour: Colour): void {
    if (cursorNs === null) return;
    const { context } = this;
    const x = ((cursorNs - view.fromNs) / (view.untilNs - view.fromNs)) * width;
    context.fillStyle = colour("--ink");
    context.fillRect(Math.round(x), this.letters + AXIS - 4, 1, tall);
    const words = instant(moment.fromNs + cursorNs);
    const wide = context.measureText(words).width + 8;
    const left = Math.min(Math.max(0, x - wide / 2), width - wide);
    context.fillStyle = colour("--page");
    context.fillRect(left, 0, wide, this.letters + AXIS - 4);
    context.fillStyle = colour("--ink");
    context.textBaseline = "middle";
    context.fillText(words, left + 4, this.middle);
  }
}

/** A time without the zeros that end it behind its point: those of a whole number are of its size. */
function label(ns: number): string {
  return time(ns).replace(/(\.\d*[1-9])0+ |\.0+ /, "$1 ");
}

function size(bytes: number): string {
  return bytes % 1024 ? `${grouped(bytes)} B` : `${grouped(bytes / 1024)} KiB`;
}
