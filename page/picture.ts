/** The picture as the page has it (report/picture.py writes it), and decoded. */

import { firstAt, summed } from "./charts";

interface Columns {
  frame: number[];
  start_ns: number[];
  length_ns: number[];
}

interface LaneColumns {
  label: string;
  sent: Columns;
  received: Columns;
  holds: string;
  limit_bytes: number;
  fills: { at_ns: number[]; fill_bytes: number[] };
  drops: { frame: number[]; at_ns: number[]; why: string[] };
  paused_from_ns: number[];
  paused_ns: number[];
}

interface MomentColumns {
  title: string;
  at_ns: number;
  from_ns: number;
  until_ns: number;
  lanes: LaneColumns[];
  number: number[];
  length_bytes: number[];
  kind: number[];
  sequence: number[];
  payload_bytes: number[];
  what: string[];
}

export interface PictureColumns {
  variant: string;
  flow: string;
  moments: MomentColumns[];
}

export const KIND = { with: 0, against: 1, control: 2, other: 3 } as const;

/** Frames on the wire at a port, in the order of their starts. */
export interface Bars {
  frame: number[];
  startNs: Float64Array;
  lengthNs: number[];
  longestNs: number;
}

export interface Lane {
  label: string;
  sent: Bars;
  received: Bars;
  holds: string;
  limitBytes: number;
  highestBytes: number;
  fillAtNs: Float64Array;
  fillBytes: number[];
  dropAtNs: Float64Array;
  dropFrame: number[];
  dropWhy: string[];
  pauseAtNs: Float64Array;
  pauseNs: number[];
}

/** Times count from the moment's start. */
export interface Moment {
  title: string;
  atNs: number;
  fromNs: number;
  lengthNs: number;
  lanes: Lane[];
  number: number[];
  lengthBytes: number[];
  kind: number[];
  sequence: number[];
  payloadBytes: number[];
  what: string[];
}

function bars(columns: Columns): Bars {
  return {
    frame: columns.frame,
    startNs: summed(columns.start_ns),
    lengthNs: columns.length_ns,
    longestNs: columns.length_ns.reduce((longest, length) => Math.max(longest, length), 0),
  };
}

function lane(columns: LaneColumns): Lane {
  const highest = columns.fills.fill_bytes.reduce((most, bytes) => Math.max(most, bytes), 0);
  return {
    label: columns.label,
    sent: bars(columns.sent),
    received: bars(columns.received),
    holds: columns.holds,
    limitBytes: columns.limit_bytes,
    highestBytes: highest,
    fillAtNs: summed(columns.fills.at_ns),
    fillBytes: columns.fills.fill_bytes,
    dropAtNs: summed(columns.drops.at_ns),
    dropFrame: columns.drops.frame,
    dropWhy: columns.drops.why,
    pauseAtNs: summed(columns.paused_from_ns),
    pauseNs: columns.paused_ns,
  };
}

export function moment(columns: MomentColumns): Moment {
  return {
    title: columns.title,
    atNs: columns.at_ns - columns.from_ns,
    fromNs: columns.from_ns,
    lengthNs: columns.until_ns - columns.from_ns,
    lanes: columns.lanes.map(lane),
    number: columns.number,
    lengthBytes: columns.length_bytes,
    kind: columns.kind,
    sequence: columns.sequence,
    payloadBytes: columns.payload_bytes,
    what: columns.what,
  };
}

/** A frame on a wire, or dropped in no time. */
export interface Sight {
  frame: number;
  fromNs: number;
  untilNs: number;
}

/** Each bar and each drop, port by port. */
export function* sights(of: Moment): Generator<Sight> {
  for (const { sent, received, dropFrame, dropAtNs } of of.lanes) {
    for (const { frame, startNs, lengthNs } of [sent, received]) {
      for (let place = 0; place < frame.length; place++) {
        yield { frame: frame[place], fromNs: startNs[place], untilNs: startNs[place] + lengthNs[place] };
      }
    }
    for (let place = 0; place < dropFrame.length; place++) {
      yield { frame: dropFrame[place], fromNs: dropAtNs[place], untilNs: dropAtNs[place] };
    }
  }
}

/** What a queue or buffer holds at an instant. */
export function fillAt(of: Lane, atNs: number): number {
  const place = firstAt(of.fillAtNs, atNs + 0.5) - 1;
  return place < 0 ? 0 : of.fillBytes[place];
}
