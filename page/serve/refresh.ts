/** A page that goes on beside whoever works in it: what is new takes its place, and what they are at stays. */

import { allKept, differs } from "./keep";

const PARTS = "main section[id], main .next";
const FIELDS = "input, select, textarea";
/** Of a part that stays, what is new all the same: runs that wait, what the student may fill in from now on. */
const PIECES = "[id^='try-'], fieldset[id]:disabled, #own-repair";

/** Put the parts of a page in their places as it has them now. Returns whether the server answered. */
export async function refreshed(url: string): Promise<boolean> {
  // What is typed is in the page that comes, if that part is replaced.
  await allKept();
  let text: string;
  try {
    const answer = await fetch(url);
    if (!answer.ok) return false;
    text = await answer.text();
  } catch {
    return false;
  }
  const [ours, theirs] = [parts(document), parts(new DOMParser().parseFromString(text, "text/html"))];
  const isSame = ours.size === theirs.size && [...theirs.keys()].every((name) => ours.has(name));
  if (!isSame && ![...ours.values()].some(isWorkedIn)) {
    // Handed in elsewhere, or begun anew: it is another page.
    location.replace(url);
    return true;
  }
  for (const [name, part] of theirs) {
    const before = ours.get(name);
    if (before) exchanged(before, document.adoptNode(part));
  }
  return true;
}

/** A part has come into the page: what moves in it has to be told so. */
export function arrived(part: HTMLElement): void {
  document.dispatchEvent(new CustomEvent<HTMLElement>("wirelab-part", { detail: part }));
}

function parts(page: Document): Map<string, HTMLElement> {
  return new Map([...page.querySelectorAll<HTMLElement>(PARTS)].map((one) => [one.id, one]));
}

function exchanged(before: HTMLElement, part: HTMLElement): void {
  if (!isWorkedIn(before)) {
    // What has been read already stays as it is, opened or not.
    for (const one of part.querySelectorAll("[id^='try-']")) {
      const old = document.getElementById(one.id);
      if (old && !waits(old)) one.replaceWith(old);
    }
    before.replaceWith(part);
    arrived(part);
    return;
  }
  for (const old of before.querySelectorAll<HTMLElement>(PIECES)) {
    const one = part.querySelector<HTMLElement>(`[id="${old.id}"]`);
    if (!one || isWorkedIn(old) || (old.matches("[id^='try-']") && !waits(old))) continue;
    old.replaceWith(one);
    arrived(one);
  }
}

/** Whether a run of an exercise has not ended, as the page has it. */
function waits(one: Element): boolean {
  return one.querySelector(":scope > .progress") !== null;
}

/** Whether somebody is in a part, has filled in something, or is told there what is wrong. */
function isWorkedIn(part: HTMLElement): boolean {
  return (
    part.contains(document.activeElement) ||
    part.dataset.stays !== undefined ||
    [...part.querySelectorAll(FIELDS)].some(differs)
  );
}
