/** What runs in a page of wirelab: its charts, and its pictures of bursts. */

import { drawBursts } from "./burst";
import { drawGroups, followColours } from "./group";
import { drawSliders } from "./sliders";

drawBursts();
drawGroups();
followColours();
drawSliders();
// A page that is kept up to date has got a part more.
document.addEventListener("wirelab-part", () => {
  drawBursts();
  drawGroups();
});
