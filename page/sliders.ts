/** The sliders of a page that is one of a grid: where one is let go, the page of its value opens. */

const KEPT = "wirelab-sliders";

interface Kept {
  focus: number;
  y: number;
}

/** Where the reader was on the page before: the next one begins there, not at its top. */
function remember(kept: Kept): void {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing for files: the page begins at its top.
  }
}

function recalled(): Kept | null {
  try {
    const text = sessionStorage.getItem(KEPT);
    sessionStorage.removeItem(KEPT);
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

function drawSlider(slider: HTMLElement, number: number): HTMLInputElement | null {
  const input = slider.querySelector<HTMLInputElement>("input[type=range]");
  const value = slider.querySelector<HTMLOutputElement>("output");
  const told = slider.querySelector<HTMLElement>(".told");
  const stops = [...slider.querySelectorAll<HTMLAnchorElement>("ol a")];
  if (!input || !value || !told) return null;
  const here = Number(input.defaultValue);
  const show = () => {
    const stop = stops[Number(input.value)];
    value.value = stop.textContent ?? "";
    told.textContent = stop.title;
    input.setAttribute("aria-valuetext", `${value.value}: ${stop.title}`);
  };
  const leave = () => remember({ focus: number, y: window.scrollY });
  // A browser that goes back shows the page with the slider as it was left.
  input.value = input.defaultValue;
  input.hidden = false;
  show();
  input.addEventListener("input", show);
  input.addEventListener("change", () => {
    if (Number(input.value) === here) return;
    leave();
    location.assign(stops[Number(input.value)].href);
  });
  for (const stop of stops) stop.addEventListener("click", leave);
  window.addEventListener("pageshow", () => {
    input.value = input.defaultValue;
    show();
  });
  return input;
}

export function drawSliders(): void {
  const inputs = [...document.querySelectorAll<HTMLElement>(".slider")].map(drawSlider);
  const kept = inputs.length ? recalled() : null;
  if (!kept) return;
  inputs[kept.focus]?.focus({ preventScroll: true });
  // The charts above have their height by now, so the place is the same.
  window.scrollTo(0, kept.y);
}
