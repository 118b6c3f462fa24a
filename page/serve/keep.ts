/** A form whose fields are kept as they are filled in: a closed laptop loses nothing. */

const PAUSE_MS = 600;

export function keepers(form: HTMLFormElement): void {
  const url = form.dataset.keep;
  const told = form.querySelector<HTMLElement>("[data-kept]");
  if (!url || !told) return;
  let timer = 0;
  const keep = async (): Promise<void> => {
    timer = 0;
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string") fields.set(name, value);
    }
    try {
      const answer = await fetch(url, { method: "POST", body: fields, keepalive: true });
      told.textContent = (answer.ok ? told.dataset.kept : told.dataset.unkept) ?? "";
    } catch {
      told.textContent = told.dataset.unkept ?? "";
    }
  };
  form.addEventListener("input", () => {
    told.textContent = told.dataset.keeping ?? "";
    clearTimeout(timer);
    timer = window.setTimeout(() => void keep(), PAUSE_MS);
  });
  form.addEventListener("submit", () => {
    clearTimeout(timer);
    timer = 0;
  });
  // Who leaves leaves no time for the pause.
  const leave = (): void => {
    if (!timer) return;
    clearTimeout(timer);
    void keep();
  };
  window.addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") leave();
  });
}
