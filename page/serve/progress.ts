/** How far a run is, as the server tells it; when it has ended, the page is loaded again, or the part that it is. */

interface Told {
  state: string;
  words: string;
  share: number;
}

export function watch(box: HTMLElement): void {
  const words = box.querySelector<HTMLElement>("[data-words]");
  const bar = box.querySelector<HTMLProgressElement>("[data-share]");
  const url = box.dataset.events;
  if (!words || !bar || !url) return;
  const source = new EventSource(url);
  source.addEventListener("message", (event: MessageEvent<string>) => {
    const told = JSON.parse(event.data) as Told;
    if (told.state === "done" || told.state === "broken") {
      source.close();
      if (box.dataset.part) void replaced(box.dataset.part, box.dataset.where ?? location.href);
      else location.reload();
      return;
    }
    box.dataset.state = told.state;
    bar.value = told.share;
    // A screen reader says each change: not each tenth of a second.
    if (words.textContent !== told.words) words.textContent = told.words;
  });
}

/** Put a part in its place as a page has it now: somebody may be typing elsewhere in ours. */
export async function replaced(id: string, url: string): Promise<void> {
  const answer = await fetch(url);
  const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
  if (!found) return;
  document.getElementById(id)?.replaceWith(document.adoptNode(found));
  for (const box of found.querySelectorAll<HTMLElement>("[data-events]")) watch(box);
  document.dispatchEvent(new Event("wirelab-part"));
}
