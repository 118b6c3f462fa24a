/** What runs in the pages of `wirelab serve`. Without it they work, too: they are made by the server. */

import { copyButtons } from "./copy";
import { folded } from "./folded";
import { fresh } from "./fresh";
import { keepers } from "./keep";
import { linked, scales } from "./knobs";
import { once } from "./once";
import { watch } from "./progress";
import { local } from "./times";

const alive = new WeakSet<Element>();

/** Let things of a page, or of a part that has come into it, move: each once. */
function each<T extends Element>(root: ParentNode, selector: string, move: (one: T) => void): void {
  for (const one of root.querySelectorAll<T>(selector)) {
    if (alive.has(one)) continue;
    alive.add(one);
    move(one);
  }
}

function enliven(root: ParentNode): void {
  each<HTMLElement>(root, "[data-events]", watch);
  each<HTMLAnchorElement>(root, "details a[data-part]", folded);
  each<HTMLSelectElement>(root, "select[data-scale]", scales);
  each<HTMLFormElement>(root, "form[data-linked]", linked);
  each<HTMLFormElement>(root, "form[data-keep]", keepers);
  each<HTMLElement>(root, "[data-fresh]", fresh);
  each<HTMLTimeElement>(root, "time[datetime]", local);
}

enliven(document);
copyButtons();
once();
document.addEventListener("wirelab-part", (event) => {
  if (event instanceof CustomEvent && event.detail instanceof HTMLElement) enliven(event.detail);
});
