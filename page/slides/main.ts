/** Slides: keys, a click or a tap lead from one to the next. Without it they are scrolled through. */

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

document.addEventListener(
  "keydown",
  (event) => {
    const step = steps[event.key];
    const isOfPicture = event.target instanceof Element && event.target.closest("canvas, .drawn, button");
    if (!step || isOfPicture || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    step();
  },
  true,
);

document.addEventListener("click", (event) => {
  const isOther = event.target instanceof Element && event.target.closest(NOT_A_STEP);
  if (!isOther && !getSelection()?.toString()) go(here() + 1);
});
