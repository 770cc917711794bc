// Names on the map: as many as fit without touching one another, the weightiest first.

import { css } from "./colors.js";

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const MOST = 34; // names on the screen
const TRIED = 4000; // features that are tried for a place, while the map does not move
const LONGEST = 28; // characters

export class Labels {
  constructor() {
    this.widths = new Map();
    this.features = { order: [], name: () => "" }; // features with the largest weights first
    this.nodeName = () => "";
  }

  draw(renderer, moving) {
    const taken = renderer.rings.map(({ kind, index, label }) => {
      const at = label && renderer.place(kind, index);
      return at ? this.box(renderer, shortened(label), at[0], at[1] - 14, "600 13px") : [0, 0, 0, 0];
    });
    if (renderer.scene.showFeatures && renderer.scene.features) this.drawFeatures(renderer, taken, moving);
    this.drawNodes(renderer, taken);
  }

  drawFeatures(renderer, taken, moving) {
    const { order, name } = this.features;
    const { width, height } = renderer.camera;
    const colors = renderer.shownFeatures();
    let written = 0;
    const end = Math.min(order.length, moving ? TRIED / 4 : TRIED);
    for (let at = 0; at < end && written < MOST; at++) {
      if (!colors[order[at]]) continue;
      const place = renderer.place("feature", order[at]);
      if (!place || place[0] < 0 || place[1] < 0 || place[0] > width || place[1] > height) continue;
      if (this.tryAt(renderer, name(order[at]), place[0], place[1] - 9, taken)) written++;
    }
  }

  /** Ids of nodes, once there are few enough on the screen to be read. */
  drawNodes(renderer, taken) {
    const { grid, under, over } = renderer.scene;
    const box = renderer.camera.visible;
    if (renderer.camera.zoom < 2 || grid.count(box) > 400) return;
    let written = 0;
    grid.rows(box, (begin, end) => {
      for (let at = begin; at < end && written < 2 * MOST; at++) {
        const node = grid.items[at];
        if (!(over ? over[node] : under[node])) continue;
        const [x, y] = renderer.camera.toScreen(grid.sortedX[at], grid.sortedY[at]);
        const below = y + renderer.radius() / renderer.ratio + 9;
        if (this.tryAt(renderer, this.nodeName(node), x, below, taken, "11px", 0.75)) written++;
      }
    });
  }

  tryAt(renderer, text, middle, y, taken, size = "12px", strength = 1) {
    let box = this.box(renderer, shortened(text), middle, y, size);
    // A name that the edge of the screen would cut moves inwards.
    const x = middle + Math.max(-box[0], 0) - Math.max(box[2] - renderer.camera.width, 0);
    if (x !== middle) box = this.box(renderer, shortened(text), x, y, size);
    if (taken.some((other) => overlap(box, other))) return false;
    taken.push(box);
    this.write(renderer, text, x, y, size, strength);
    return true;
  }

  box({ context }, text, x, y, size) {
    const key = size + text;
    if (!this.widths.has(key)) {
      if (this.widths.size > 20000) this.widths.clear();
      context.font = `${size} ${FONT}`;
      this.widths.set(key, context.measureText(text).width);
    }
    const half = this.widths.get(key) / 2 + 4;
    return [x - half, y - 9, x + half, y + 9];
  }

  write({ context, theme }, text, x, y, size, strength = 1) {
    context.font = `${size} ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = css(theme.background);
    context.globalAlpha = strength;
    context.strokeText(shortened(text), x, y);
    context.fillStyle = css(theme.ink);
    context.fillText(shortened(text), x, y);
    context.globalAlpha = 1;
  }
}

/** A text without its middle where it is long: names that begin alike often differ at their ends. */
export function shortened(text, longest = LONGEST) {
  const signs = text.length > longest ? [...text] : []; // whole characters
  if (signs.length <= longest) return text;
  const tail = Math.floor(longest / 3) - 1;
  return `${signs.slice(0, longest - tail - 1).join("")}…${signs.slice(-tail).join("")}`;
}

function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}
