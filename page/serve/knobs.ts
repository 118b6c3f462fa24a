/** Knobs of the bench: a choice whose positions have an order becomes a slider, and the address follows. */

export function scales(select: HTMLSelectElement): void {
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = "0";
  slider.max = String(select.options.length - 1);
  slider.value = String(select.selectedIndex);
  slider.setAttribute("aria-label", select.labels?.[0]?.textContent ?? select.name);
  const said = () => slider.setAttribute("aria-valuetext", select.selectedOptions[0]?.text ?? "");
  slider.addEventListener("input", () => {
    select.selectedIndex = Number(slider.value);
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  select.addEventListener("change", () => {
    slider.value = String(select.selectedIndex);
    said();
  });
  said();
  select.after(slider);
}

export function linked(form: HTMLFormElement): void {
  // What nobody has turned is not sent: a large network has a thousand knobs.
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
  form.addEventListener("change", () => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (name !== "csrf" && typeof value === "string" && value) query.set(name, value);
    }
    history.replaceState(null, "", `${location.pathname}?${query}`);
    for (const knob of form.querySelectorAll<HTMLElement>(".knob")) {
      const field = knob.querySelector<HTMLSelectElement | HTMLInputElement>("select, input[name]");
      knob.classList.toggle("turned", Boolean(field?.value));
    }
  });
}
