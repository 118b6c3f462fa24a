/** Figures and frames in words. */

import type { Moment } from "./picture";
import { grouped } from "./words";

export function time(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1000) return `${Math.round(ns)} ns`;
  if (size < 1e6) return `${(ns / 1e3).toFixed(size < 1e5 ? 2 : 1)} us`;
  return `${(ns / 1e6).toFixed(3)} ms`;
}

/** An instant of the traffic's time. */
export function instant(ns: number): string {
  const [whole, part] = (ns / 1e9).toFixed(9).split(".");
  return `${whole}.${part.slice(0, 3)}\u202f${part.slice(3, 6)}\u202f${part.slice(6)} s`;
}

interface Happened {
  atNs: number;
  words: string;
}

/** What became of a frame, in one sentence. */
export function story(of: Moment, frame: number): string {
  const happened: Happened[] = [];
  for (const lane of of.lanes) {
    // At one instant a frame leaves a port, comes to the next, and is dropped there.
    for (const [bars, verb, order] of [
      [lane.sent, "left", 0],
      [lane.received, "came to", 0.25],
    ] as const) {
      bars.frame.forEach((one, place) => {
        if (one === frame) {
          const atNs = bars.startNs[place] + bars.lengthNs[place] + order;
          happened.push({ atNs, words: `${verb} ${lane.label}` });
        }
      });
    }
    lane.dropFrame.forEach((one, place) => {
      if (one === frame) {
        const words = `was dropped at ${lane.label}: ${lane.dropWhy[place]}`;
        happened.push({ atNs: lane.dropAtNs[place] + 0.5, words });
      }
    });
  }
  happened.sort((one, other) => one.atNs - other.atNs);
  const data = of.payloadBytes[frame] > 0 ? `, ${grouped(of.payloadBytes[frame])} bytes of data` : "";
  const sequence = of.sequence[frame] >= 0 && data ? ` from sequence number ${of.sequence[frame]}` : "";
  const name = `Frame ${of.number[frame]} (${of.what[frame]}, ${grouped(of.lengthBytes[frame])} bytes${data}${sequence})`;
  if (!happened.length) return `${name}.`;
  const first = happened[0].atNs;
  const steps = happened.map(({ atNs, words }, place) =>
    place ? `${words} ${time(atNs - first)} later` : `${words} at ${instant(of.fromNs + atNs)}`,
  );
  const last = happened[happened.length - 1].words;
  if (last.startsWith("was dropped") && steps.length > 1) {
    steps[steps.length - 1] =
      `and ${time(happened[happened.length - 1].atNs - first)} after the first of these it ${last}`;
  }
  return `${name} ${steps.join(", ")}.`;
}
