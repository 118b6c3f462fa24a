/** Buttons that copy what a field holds. */

export function copyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    const field = document.getElementById(button.dataset.copy ?? "");
    // Only pages that came over TLS, or from this machine, may write to the clipboard; a selection always works.
    if (!(field instanceof HTMLInputElement)) continue;
    button.hidden = false;
    button.addEventListener("click", () => {
      field.select();
      const done = () => (button.textContent = button.dataset.copied ?? "");
      if (navigator.clipboard) void navigator.clipboard.writeText(field.value).then(done);
      else done();
    });
  }
}
