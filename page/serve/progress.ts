/** How far a run is, as the server tells it; when it has ended, the part that it is comes anew, or the page. */

import { allKept } from "./keep";
import { arrived, refreshed } from "./refresh";

/** Until a server that did not answer is asked again. */
const AGAIN_MS = 5000;

interface Told {
  run: string;
  state: string;
  words: string;
  share: number;
}

/** The boxes of runs that have not ended. */
const boxes = new Set<HTMLElement>();
let source: EventSource | null = null;
let isMade = true;

export function watch(box: HTMLElement): void {
  boxes.add(box);
  listen();
}

document.addEventListener("visibilitychange", listen);

/** One stream for all of them, and none while nobody looks: a browser has six connections to a server, for all tabs. */
function listen(): void {
  source?.close();
  source = null;
  if (!isMade) return;
  isMade = false;
  // When all boxes of the page, or of a part, have been found.
  queueMicrotask(() => {
    isMade = true;
    for (const box of boxes) if (!box.isConnected) boxes.delete(box);
    const addresses = [...boxes].map((box) => new URL(box.dataset.events ?? "", location.href));
    const [address, ...others] = addresses;
    if (!address || document.hidden) return;
    for (const other of others) address.searchParams.append("run", other.searchParams.get("run") ?? "");
    source = new EventSource(address);
    source.addEventListener("message", (event: MessageEvent<string>) => told(JSON.parse(event.data) as Told));
  });
}

function told({ run, state, words, share }: Told): void {
  const hasEnded = state === "done" || state === "broken";
  for (const box of boxes) {
    if (new URL(box.dataset.events ?? "", location.href).searchParams.get("run") !== run) continue;
    const [said, bar] = [box.querySelector("[data-words]"), box.querySelector("progress")];
    if (hasEnded) {
      boxes.delete(box);
      // It closes the stream itself with the last one, and a browser would ask again.
      if (!boxes.size) listen();
      void ended(box);
      continue;
    }
    box.dataset.state = state;
    if (bar) bar.value = share;
    // A screen reader says each change: not each tenth of a second.
    if (said && said.textContent !== words) said.textContent = words;
  }
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
