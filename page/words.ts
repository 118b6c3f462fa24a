/** Figures in words. */

import type { Axis } from "./charts";

export function grouped(figure: number): string {
  return String(Math.round(figure)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function groupedFixed(figure: number, decimals: number): string {
  const [whole, part] = Math.abs(figure).toFixed(decimals).split(".");
  const sign = figure < 0 && Number(figure.toFixed(decimals)) !== 0 ? "\u2212" : "";
  const words = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return part ? `${sign}${words}.${part}` : sign + words;
}

/** How many decimals tell multiples of a step from each other. */
export function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < 12; decimals++) {
    const times = step * 10 ** decimals;
    if (Math.abs(times - Math.round(times)) < 1e-6 * times) return decimals;
  }
  return 12;
}

/** A place of an axis, in its unit, so that places as far apart as a step are told from each other. */
export function tick(value: number, step: number): string {
  return groupedFixed(value, decimalsOf(step));
}

/** A value of an axis' quantity, in the unit that suits it. */
export function amount(axis: Axis, value: number): string {
  if (!axis.units.length) return groupedFixed(value, Number.isInteger(value) ? 0 : 1);
  let [word, size] = axis.units[0];
  for (const [other, more] of axis.units) if (more <= Math.abs(value)) [word, size] = [other, more];
  const figure = value / size;
  const whole = Math.abs(figure) < 1 ? 1 : Math.floor(Math.log10(Math.abs(figure))) + 1;
  const decimals = Number.isInteger(figure) ? 0 : Math.max(0, 4 - whole);
  return `${groupedFixed(figure, decimals)} ${word}`;
}

/** A place of the x axis, as closely as a view of so much of it tells. */
export function placeOf(axis: Axis, value: number, span: number): string {
  if (axis.names.length) return axis.names[Math.round(value)] ?? "";
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(span / axis.perUnit / 1000))));
  const words = groupedFixed(value / axis.perUnit, decimals);
  return axis.unit ? `${words} ${axis.unit}` : words;
}
