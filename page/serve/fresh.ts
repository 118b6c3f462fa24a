/** A part of a page that is kept up to date: the same page is asked for again, and the part is put in its place. */

export function fresh(part: HTMLElement): void {
  const seconds = Number(part.dataset.fresh);
  const look = async (): Promise<void> => {
    // Whoever reads in it with the keyboard, or looks at something else, is left alone.
    if (document.hidden || part.contains(document.activeElement)) return;
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(part.id);
    if (found && found.innerHTML !== part.innerHTML) part.replaceChildren(...found.childNodes);
  };
  window.setInterval(() => void look().catch(() => undefined), seconds * 1000);
}
