/** The charts of a page: those over one axis are linked, and each group has the buttons of its link. */

import { type Chart, charts, type GroupColumns } from "./charts";
import { Link } from "./link";
import { Plot } from "./plot";
import { placeOf } from "./words";

const links = new Map<string, Link>();

function linkOf(chart: Chart): Link {
  const known = links.get(chart.x.label);
  if (known) {
    known.extend(chart.x);
    return known;
  }
  const made = new Link(chart.x);
  links.set(chart.x.label, made);
  return made;
}

function button(words: string, label: string, does: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.setAttribute("aria-label", label);
  made.title = label;
  made.addEventListener("click", does);
  return made;
}

function tools(link: Link): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "plot-tools";
  const closer = button("+", "closer", () => link.zoom(0.5));
  const farther = button("\u2212", "farther", () => link.zoom(2));
  const back = button("\u2190", "earlier", () => link.pan(-0.5));
  const on = button("\u2192", "later", () => link.pan(0.5));
  const whole = button("whole", "the whole axis", () => link.showAll());
  const shown = document.createElement("span");
  bar.append(closer, farther, back, on, whole, shown);
  const hint = matchMedia("(pointer: coarse)").matches
    ? "a finger reads the values, two fingers zoom"
    : "drag to zoom, double-click for the whole";
  link.watch(() => {
    for (const one of [farther, back, on, whole]) one.disabled = link.isWhole;
    const span = link.until - link.from;
    shown.textContent = link.isWhole
      ? hint
      : `${placeOf(link.axis, link.from, span)} to ${placeOf(link.axis, link.until, span)}`;
  });
  return bar;
}

/** Draw a chart as soon as it has a width: what is folded away has none. */
function whenWide(box: HTMLElement, draw: () => void): void {
  if (box.clientWidth) {
    draw();
    return;
  }
  const observer = new ResizeObserver(() => {
    if (!box.clientWidth) return;
    observer.disconnect();
    draw();
  });
  observer.observe(box);
}

function drawGroup(root: HTMLElement): void {
  root.dataset.drawn = "";
  const data = root.querySelector("script[type='application/json']")?.textContent;
  if (!data) return;
  const drawn = charts(JSON.parse(data) as GroupColumns);
  const figures = [...root.querySelectorAll<HTMLElement>("figure.plot")];
  const aloud = document.createElement("p");
  aloud.className = "aloud";
  aloud.setAttribute("aria-live", "polite");
  root.append(aloud);
  const linked = drawn.map(linkOf);
  let before: Link | undefined;
  drawn.forEach((chart, number) => {
    const [figure, link] = [figures[number], linked[number]];
    if (link !== before) figure.before(tools(link));
    before = link;
    const box = figure.querySelector<HTMLElement>(".drawn");
    if (!box) return;
    // Not by an attribute: the policy of a page may forbid styles in markup.
    box.style.minHeight = `${box.dataset.height}px`;
    whenWide(box, () => link.add(new Plot(chart, link, box, figure, aloud)));
  });
}

function redraw(): void {
  for (const link of links.values()) link.redraw();
}

/** Draw those that are not drawn yet. */
export function drawGroups(): void {
  document.querySelectorAll<HTMLElement>(".plots:not([data-drawn])").forEach(drawGroup);
}

/** Draw all again whenever a page has other colours. */
export function followColours(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // On paper in its colours: the page's own are others on a dark screen.
  matchMedia("print").addEventListener("change", redraw);
  // The documentation's switch between dark and light.
  new MutationObserver(redraw).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
}
