/** The charts of a group as the page has them (report/chart.py writes them), and decoded. */

export interface Axis {
  label: string;
  high: number;
  perUnit: number;
  unit: string;
  units: [string, number][];
  names: string[];
}

interface LineColumns {
  name: string;
  colour: number;
  drawn: "line" | "step" | "dots";
  dashed: boolean;
  x: number;
  y: number[];
}

interface SpansColumns {
  name: string;
  colour: number;
  x: number;
  low: number[];
  size: number[];
}

interface Range {
  low: number | null;
  high: number | null;
  begins: number;
  ends: number;
  colour: number;
}

interface ChartColumns {
  title: string;
  x: Axis;
  y: Axis;
  height: number;
  fromZero: boolean;
  lines: LineColumns[];
  spans: SpansColumns[];
  levels: [string, number][];
  marks: [string, number][];
  ranges: Range[];
}

export interface GroupColumns {
  columns: number[][];
  charts: ChartColumns[];
}

export interface Line extends Omit<LineColumns, "x"> {
  x: Float64Array;
}

/** Upright strokes, in the order of x. */
export interface Spans {
  name: string;
  colour: number;
  x: Float64Array;
  low: Float64Array;
  size: number[];
}

/** All in base units. */
export interface Chart extends Omit<ChartColumns, "lines" | "spans"> {
  lines: Line[];
  spans: Spans[];
}

export function summed(differences: number[]): Float64Array {
  const figures = new Float64Array(differences.length);
  let figure = 0;
  for (let place = 0; place < differences.length; place++) {
    figure += differences[place];
    figures[place] = figure;
  }
  return figures;
}

/** The first place whose figure is at least that. */
export function firstAt(figures: ArrayLike<number>, least: number): number {
  let low = 0;
  let high = figures.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (figures[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last place whose figure is at most that; -1 for none. */
export function lastAt(figures: ArrayLike<number>, most: number): number {
  let low = 0;
  let high = figures.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (figures[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export function charts(group: GroupColumns): Chart[] {
  const columns = group.columns.map(summed);
  return group.charts.map((chart) => ({
    ...chart,
    lines: chart.lines.map((line) => ({ ...line, x: columns[line.x] })),
    spans: chart.spans.map((spans) => ({ ...spans, x: columns[spans.x], low: summed(spans.low) })),
  }));
}

/** How long the last value of a line holds: a step ends with its point, others are read as far as a sample goes. */
function holds(line: Line): number {
  const last = line.x.length - 1;
  return line.drawn === "step" || last < 1 ? 0 : line.x[last] - line.x[last - 1];
}

/** The place of a line's value in its chart: what has a name has no neighbours, but the value of the name. */
export function placeIn(chart: Chart, line: Line, at: number): number {
  return chart.x.names.length ? line.x.indexOf(at) : placeAt(line, at);
}

/** The place of a line's value at an instant: what holds there, or the nearest; -1 for none, or none any more. */
function placeAt(line: Line, at: number): number {
  const before = lastAt(line.x, at);
  if (before === line.x.length - 1) return at - line.x[before] <= holds(line) ? before : -1;
  if (line.drawn === "step") return before;
  if (before < 0) return line.drawn === "line" ? -1 : 0;
  return at - line.x[before] <= line.x[before + 1] - at ? before : before + 1;
}
