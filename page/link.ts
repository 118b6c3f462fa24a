/** Charts over one axis: what is zoomed or pointed at in one of them is so in all. */

import type { Axis } from "./charts";

/** A chart that is linked. Places are in base units. */
export interface Linked {
  show(from: number, until: number): void;
  point(at: number | null): void;
  redraw(): void;
  told(): string;
}

const LEAST_SHARE = 1e-7;

export class Link {
  readonly whole: [number, number];
  from: number;
  until: number;
  at: number | null = null;
  private readonly plots: Linked[] = [];
  private readonly watchers: (() => void)[] = [];

  constructor(readonly axis: Axis) {
    this.whole = axis.names.length ? [-0.25, axis.high + 0.25] : [0, axis.high];
    [this.from, this.until] = this.whole;
  }

  get isWhole(): boolean {
    return this.from <= this.whole[0] && this.until >= this.whole[1];
  }

  add(plot: Linked): void {
    this.plots.push(plot);
  }

  /** Be told of each change of the view. */
  watch(watcher: () => void): void {
    this.watchers.push(watcher);
    watcher();
  }

  /** Runs of one page may last differently long: the longest is the whole, of those that are drawn already too. */
  extend(axis: Axis): void {
    const wasWhole = this.isWhole;
    this.whole[1] = Math.max(this.whole[1], axis.names.length ? axis.high + 0.25 : axis.high);
    if (wasWhole && !this.isWhole) this.showAll();
  }

  show(from: number, until: number): void {
    const [first, last] = this.whole;
    const span = Math.min(Math.max(until - from, (last - first) * LEAST_SHARE), last - first);
    this.from = Math.min(Math.max(first, from), last - span);
    this.until = this.from + span;
    for (const plot of this.plots) plot.show(this.from, this.until);
    for (const watcher of this.watchers) watcher();
  }

  showAll(): void {
    this.show(...this.whole);
  }

  /** Closer or farther, about a place that stays where it is. */
  zoom(times: number, about = this.at ?? (this.from + this.until) / 2): void {
    const centre = about < this.from || about > this.until ? (this.from + this.until) / 2 : about;
    this.show(centre - (centre - this.from) * times, centre + (this.until - centre) * times);
  }

  pan(share: number): void {
    const by = (this.until - this.from) * share;
    this.show(this.from + by, this.until + by);
  }

  point(at: number | null): void {
    // Between things that have names there is nothing.
    this.at = at !== null && this.axis.names.length ? this.nearest(at) : at;
    for (const plot of this.plots) plot.point(this.at);
  }

  private nearest(at: number): number {
    return Math.min(Math.max(0, Math.round(at)), this.axis.names.length - 1);
  }

  /** Move the cursor, and what is shown with it. */
  move(to: number): void {
    const at = Math.min(Math.max(this.whole[0], to), this.whole[1]);
    if (at < this.from) this.show(at, at + this.until - this.from);
    if (at > this.until) this.show(at - (this.until - this.from), at);
    this.point(at);
  }

  redraw(): void {
    for (const plot of this.plots) plot.redraw();
  }
}
