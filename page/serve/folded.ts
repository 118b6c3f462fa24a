/** What is folded away comes when it is opened: with the pictures of every run in it a page has a megabyte. */

import { replaced } from "./progress";

export function folded(link: HTMLAnchorElement): void {
  const [details, part] = [link.closest("details"), link.dataset.part];
  if (!details || !part) return;
  details.addEventListener("toggle", () => {
    if (details.open && link.isConnected) void replaced(part, link.href);
  });
}
