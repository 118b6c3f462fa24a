/** What runs in the pages of `wirelab serve`. Without it they work, too: they are made by the server. */

import { copyButtons } from "./copy";
import { folded } from "./folded";
import { fresh } from "./fresh";
import { keepers } from "./keep";
import { linked, scales } from "./knobs";
import { once } from "./once";
import { watch } from "./progress";

for (const box of document.querySelectorAll<HTMLElement>("[data-events]")) watch(box);
for (const link of document.querySelectorAll<HTMLAnchorElement>("details a[data-part]")) folded(link);
for (const select of document.querySelectorAll<HTMLSelectElement>("select[data-scale]")) scales(select);
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-linked]")) linked(form);
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-keep]")) keepers(form);
for (const part of document.querySelectorAll<HTMLElement>("[data-fresh]")) fresh(part);
copyButtons();
once();
