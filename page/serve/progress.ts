/** How far a run is, as the server tells it; when it has ended, the part that it is comes anew, or the page. */

import { allKept } from "./keep";
import { arrived, refreshed } from "./refresh";

/** Until a server that did not answer is asked again. */
const AGAIN_MS = 5000;

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
      void ended(box);
      return;
    }
    box.dataset.state = told.state;
    bar.value = told.share;
    // A screen reader says each change: not each tenth of a second.
    if (words.textContent !== told.words) words.textContent = told.words;
  });
}

async function ended(box: HTMLElement): Promise<void> {
  const { part, where } = box.dataset;
  if (part) return replaced(part, where ?? location.href);
  if (where) {
    if (!(await refreshed(where))) window.setTimeout(() => void ended(box), AGAIN_MS);
    return;
  }
  await allKept();
  location.reload();
}

/** Put a part in its place as a page has it now: somebody may be typing elsewhere in ours. */
export async function replaced(id: string, url: string): Promise<void> {
  const answer = await fetch(url);
  const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
  if (!found) return;
  document.getElementById(id)?.replaceWith(document.adoptNode(found));
  arrived(found);
}
