/** A form whose fields are kept as they are filled in: a closed laptop loses nothing. */

const PAUSE_MS = 600;

const leaves = new Map<HTMLFormElement, () => Promise<void>>();

/** Resolves when all that is typed in the page is kept, or cannot be. */
export async function allKept(): Promise<void> {
  for (const form of leaves.keys()) if (!form.isConnected) leaves.delete(form);
  await Promise.all([...leaves.values()].map((leave) => leave()));
}

export function keepers(form: HTMLFormElement): void {
  const url = form.dataset.keep;
  const told = form.querySelector<HTMLElement>("[data-kept]");
  if (!url || !told) return;
  let timer = 0;
  let isSent = true;
  let sent = Promise.resolve();
  const touched = new Set<string>();
  /** From now on it is sent, whatever the page began with: who goes back to that has typed it, too. */
  const touch = (field: EventTarget | null): void => {
    if (!(field instanceof Element)) return;
    const name = field.getAttribute("name");
    if (!name) return;
    touched.add(name);
    const was = form.elements.namedItem(`was.${name}`);
    if (was instanceof HTMLInputElement) was.disabled = true;
  };
  const typed = (): URLSearchParams => {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string" && (touched.has(name) || name === "csrf")) fields.set(name, value);
    }
    return fields;
  };
  const send = async (): Promise<void> => {
    if (isSent) return;
    isSent = true;
    try {
      const answer = await fetch(url, { method: "POST", body: typed(), keepalive: true });
      told.textContent = (answer.ok ? told.dataset.kept : told.dataset.unkept) ?? "";
    } catch {
      told.textContent = told.dataset.unkept ?? "";
    }
  };
  // One after another: the last that was typed is the last that is kept.
  const leave = (): Promise<void> => {
    clearTimeout(timer);
    sent = sent.then(send);
    return sent;
  };
  const soon = (): void => {
    isSent = false;
    told.textContent = told.dataset.keeping ?? "";
    clearTimeout(timer);
    timer = window.setTimeout(() => void leave(), PAUSE_MS);
  };
  form.addEventListener("input", (event) => {
    touch(event.target);
    soon();
  });
  // Typed before this was here to hear it, or put back by the browser after a reload.
  const before = [...form.elements].filter(differs);
  before.forEach(touch);
  if (before.length) soon();
  const over = (): void => {
    clearTimeout(timer);
    isSent = true;
  };
  form.addEventListener("submit", over);
  // Who leaves, a field or the page, leaves no time for the pause.
  form.addEventListener("change", () => void leave());
  leaves.set(form, leave);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") void leave();
  });
  window.addEventListener("pagehide", () => {
    // Nobody is left to be told, and a fetch may go with the page.
    if (!isSent) navigator.sendBeacon(url, typed());
    over();
  });
}

/** Whether a field has another value than it came with. */
export function differs(field: Element): boolean {
  if (field instanceof HTMLSelectElement) {
    const given = [...field.options].find((one) => one.defaultSelected) ?? field.options[0];
    return field.value !== given?.value;
  }
  if (field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type)) {
    return field.checked !== field.defaultChecked;
  }
  const typed = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  return typed && field.type !== "hidden" && field.value !== field.defaultValue;
}
