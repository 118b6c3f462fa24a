/** Slides: keys, a click or a tap lead from one to the next. Without it they are scrolled through.

Text grows with the screen by itself; what is drawn in pixels is made as much larger here, and a slide that is higher than
the screen smaller. */

const slides = [...document.querySelectorAll<HTMLElement>(".slide")];
const NOT_A_STEP = "a, button, input, summary, canvas, .drawn, .plot-tools, .burst";

function here(): number {
  const middle = window.innerHeight / 2;
  const found = slides.findIndex((slide) => slide.getBoundingClientRect().bottom > middle);
  return found < 0 ? slides.length - 1 : found;
}

function go(number: number): void {
  const slide = slides[Math.max(0, Math.min(slides.length - 1, number))];
  slide.scrollIntoView();
  history.replaceState(null, "", `#${slide.id}`);
}

const steps: Record<string, () => void> = {
  ArrowRight: () => go(here() + 1),
  ArrowDown: () => go(here() + 1),
  PageDown: () => go(here() + 1),
  " ": () => go(here() + 1),
  ArrowLeft: () => go(here() - 1),
  ArrowUp: () => go(here() - 1),
  PageUp: () => go(here() - 1),
  Home: () => go(0),
  End: () => go(slides.length - 1),
};

const HAS_KEYS = "canvas, .drawn, input, select, textarea";
const IS_PRESSED = "a, button, summary, input[type=button], input[type=checkbox], input[type=submit]";

/** Whether what has the focus takes a key itself: a button is left with the one that presses it. */
function isTaken(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest(IS_PRESSED) ? key === " " : target.closest(HAS_KEYS) !== null;
}

document.addEventListener(
  "keydown",
  (event) => {
    const step = steps[event.key];
    if (!step || isTaken(event.target, event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    step();
  },
  true,
);

document.addEventListener("click", (event) => {
  const isOther = event.target instanceof Element && event.target.closest(NOT_A_STEP);
  if (!isOther && !getSelection()?.toString()) go(here() + 1);
});

const WIDE = 1280;
const NARROW = "(max-width: 42rem)";

function fit(): void {
  const root = document.documentElement;
  const isNarrow = matchMedia(NARROW).matches;
  const width = Math.min(window.innerWidth, (window.innerHeight * 16) / 9);
  root.style.setProperty("--scale", isNarrow ? "1" : (width / WIDE).toFixed(3));
  for (const slide of slides) {
    const sheet = slide.querySelector<HTMLElement>(".sheet");
    if (!sheet) continue;
    sheet.style.removeProperty("--fit");
    // One pixel is the rule between slides.
    const share = (window.innerHeight - 1) / sheet.getBoundingClientRect().height;
    if (!isNarrow && share < 1) sheet.style.setProperty("--fit", share.toFixed(3));
  }
}

// After the charts, which are drawn when the page has been read.
window.addEventListener("load", () => requestAnimationFrame(fit));
window.addEventListener("resize", () => requestAnimationFrame(fit));
