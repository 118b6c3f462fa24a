/** A form that is sent once, however often its button is pressed before the next page is there. */

const AGAIN_MS = 10_000;

export function once(): void {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    // Who has stopped the loading may try again.
    window.setTimeout(() => delete form.dataset.sent, AGAIN_MS);
  });
  // A page that is gone back to is as it was left.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll<HTMLFormElement>("form[data-sent]")) delete form.dataset.sent;
  });
}
