// Draws the map: points as pixels, or as circles where there are few, then names, rings and lines above them.
//
// All of it is on one canvas: without a GPU, browsers copy every canvas of a window at each frame.

import { between, eased } from "./camera.js";
import { css, mixed } from "./colors.js";
import { Labels } from "./labels.js";
import { Splats } from "./splats.js";

const FRAME = 12; // milliseconds that points may take while the map moves
const SETTLE = 140; // milliseconds after the last movement until everything is drawn again
const FEATURES = 160; // features that are drawn on the whole map, those with the longest vectors
const CIRCLES = 1200; // points on the screen up to which each is a circle of the canvas

export class Renderer {
  constructor(canvas, camera) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.camera = camera;
    this.splats = new Splats();
    this.labels = new Labels();
    this.theme = { background: 0xffffffff, ink: 0xff000000, accent: "#000000" };
    this.scene = null; // { grid, features, under, over, showFeatures, featureColor }
    this.rings = []; // { kind, index, color, label }
    this.links = []; // [node, node, strength]
    this.lasso = [];
    this.cost = 2e-5; // milliseconds a point, as last measured
    this.frames = 0;
    this.waiting = 0;
    this.onframe = () => {};
  }

  resize(width, height) {
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.splats.resize(this.canvas.width, this.canvas.height);
    this.pixels = null;
  }

  /** Draw at the next frame; while the map moves, only as many points as a frame has time for. */
  request(moving = false) {
    if (moving) {
      this.movedAt = performance.now();
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.request(), SETTLE);
    }
    if (!this.waiting) this.waiting = requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.waiting = 0;
    const now = performance.now();
    if (this.flight && !this.flight(now)) this.flight = null;
    if (this.morph && now >= this.morph.end) this.morph = null;
    const busy = Boolean(this.flight || this.morph);
    this.draw(busy || now - (this.movedAt ?? -SETTLE) < SETTLE * 0.8);
    this.frames++;
    this.onframe(busy);
    if (busy) this.request(true);
  }

  /** Move the camera to a view; at once where people want less motion. */
  fly(view, duration = 600) {
    const from = this.camera.view;
    const start = performance.now();
    if (prefersStill()) duration = 0;
    this.flight = (now) => {
      const share = duration ? Math.min((now - start) / duration, 1) : 1;
      this.camera.view = between(from, view, eased(share));
      return share < 1;
    };
    this.request(true);
  }

  /** Let points move from where they are on another grid to where they are on the present one. */
  morphFrom(grid, features, duration = 900) {
    if (prefersStill()) return this.request();
    const start = performance.now();
    this.morph = { grid, features, start, end: start + duration };
    this.request(true);
  }

  radius() {
    const n = Math.max(this.scene.grid.items.length, 1);
    const own = Math.min(14 * n ** -0.19, 4.5);
    return Math.min(own * Math.max(this.camera.zoom, 0.5) ** 0.4, 9) * this.ratio;
  }

  opacity() {
    const n = Math.max(this.scene.grid.items.length, 1);
    return Math.min(1.2 - 0.1 * Math.log10(n) + 0.15 * Math.log2(Math.max(this.camera.zoom, 1)), 0.95);
  }

  /** The map's coordinates to pixels: x·a + b, y·c + d. */
  transform() {
    const { camera, ratio } = this;
    const [mx, my] = camera.middle;
    const a = camera.scale * ratio;
    return [a, (mx - camera.x * camera.scale) * ratio, -a, (my + camera.y * camera.scale) * ratio];
  }

  draw(moving) {
    if (!this.scene) return;
    const begin = performance.now();
    if (!this.isCurrent(moving)) this.drawPixels(begin, moving);
    const { drawn } = this.pixels;
    this.splats.show(this.context);
    if (drawn.circles) this.drawCircles(drawn.circles);
    this.drawMarks(moving);
    this.last = { points: drawn.points, step: drawn.step, milliseconds: performance.now() - begin };
  }

  /** Whether the pixels of the last frame show the same points: only what is above them has changed. */
  isCurrent(moving) {
    const { pixels, camera, scene, theme } = this;
    if (!pixels || this.morph || pixels.scene !== scene || pixels.theme !== theme || (!moving && pixels.drawn.step > 1))
      return false;
    const { x, y, scale, middle } = camera;
    return (
      [x, y, scale, ...middle].every((value, i) => value === pixels.view[i]) && (moving || pixels.moving === moving)
    );
  }

  drawPixels(now, moving) {
    const { splats, theme, scene, camera } = this;
    splats.clear(theme.background);
    const cleared = performance.now();
    const drawn = this.morph ? this.drawMorph(now) : this.drawPoints(moving);
    const spent = performance.now() - cleared; // by points alone: what a frame takes besides does not depend on them
    if (drawn.points > 2000) this.cost = 0.7 * this.cost + 0.3 * (spent / drawn.points);
    this.pixels = { drawn, moving, scene, theme, view: [camera.x, camera.y, camera.scale, ...camera.middle] };
    if (this.morph) this.pixels.scene = null;
  }

  drawPoints(moving) {
    const { scene, camera, splats } = this;
    const { grid } = scene;
    const radius = this.radius();
    const reach = (radius / this.ratio + 2) / camera.scale;
    const [x0, y0, x1, y1] = camera.visible;
    const box = [x0 - reach, y0 - reach, x1 + reach, y1 + reach];
    const count = grid.count(box) * (scene.over ? 2 : 1);
    if (count <= CIRCLES && radius >= 3 * this.ratio && !moving) {
      this.drawFeatures(scene.features, 1);
      return { points: count, step: 1, circles: box };
    }
    const step = moving ? Math.max(1, Math.ceil((count * this.cost) / FRAME)) : 1;
    const transform = this.transform();
    const stamps = splats.stamp(radius, this.opacity());
    for (const colors of [scene.under, scene.over]) {
      if (!colors) continue;
      grid.rows(box, (begin, end) => {
        const first = begin + ((step - (begin % step)) % step);
        splats.draw(grid.sortedX, grid.sortedY, grid.items, colors, first, end, step, transform, stamps);
      });
    }
    this.drawFeatures(scene.features, 1);
    return { points: Math.ceil(count / step), step };
  }

  drawMorph(now) {
    const { scene, splats, morph } = this;
    const share = eased(Math.min((now - morph.start) / (morph.end - morph.start), 1));
    const n = scene.grid.size;
    const step = Math.max(1, Math.ceil((n * this.cost * 1.5) / FRAME));
    const [x, y] = interpolated(morph.grid, scene.grid, share, step);
    const stamps = splats.stamp(this.radius(), this.opacity());
    for (const colors of [scene.under, scene.over]) {
      if (colors) splats.draw(x, y, null, colors, 0, n, step, this.transform(), stamps);
    }
    this.drawFeatures(scene.features, share);
    return { points: n / step, step };
  }

  drawFeatures(grid, share) {
    const { scene, splats, morph } = this;
    if (!grid || !scene.showFeatures) return;
    const radius = Math.min(2.2 * Math.max(this.camera.zoom, 1) ** 0.25, 5) * this.ratio;
    const stamps = splats.stamp(radius, 0.8, true);
    const colors = this.shownFeatures();
    if (morph) {
      const [x, y] = interpolated(morph.features, grid, share, 1);
      splats.draw(x, y, null, colors, 0, grid.size, 1, this.transform(), stamps);
    } else {
      splats.draw(grid.sortedX, grid.sortedY, grid.items, colors, 0, grid.items.length, 1, this.transform(), stamps);
    }
  }

  /** Colours of features, 0 for those that are not drawn: more of them are, the larger the map is drawn. */
  shownFeatures() {
    const { featureColors: colors, allFeatures } = this.scene;
    const { order } = this.labels.features;
    const limit = FEATURES * 2 ** Math.round(1.5 * Math.log2(Math.max(this.camera.zoom, 1)));
    if (allFeatures || limit >= colors.length || !order.length) return colors;
    if (this.shown?.limit !== limit || this.shown.of !== colors) {
      this.shown = { limit, of: colors, colors: new Uint32Array(colors.length) };
      for (const feature of order.subarray(0, limit)) this.shown.colors[feature] = colors[feature];
    }
    return this.shown.colors;
  }

  drawCircles(box) {
    const { context, scene, theme } = this;
    const { grid } = scene;
    context.setTransform(1, 0, 0, 1, 0, 0);
    const [a, b, c, d] = this.transform();
    const radius = this.radius();
    context.lineWidth = Math.max(1, 0.6 * this.ratio);
    for (const colors of [scene.under, scene.over]) {
      if (!colors) continue;
      grid.rows(box, (begin, end) => {
        for (let j = begin; j < end; j++) {
          const color = colors[grid.items[j]];
          if (!color) continue;
          context.beginPath();
          context.arc(grid.sortedX[j] * a + b, grid.sortedY[j] * c + d, radius, 0, 2 * Math.PI);
          context.fillStyle = css(color);
          context.fill();
          context.strokeStyle = css(mixed(color, theme.background, 0.6));
          context.stroke();
        }
      });
    }
  }

  /** Where something is on the screen, or null where it has no position. */
  place(kind, index) {
    const grid = kind === "node" ? this.scene.grid : this.scene.features;
    return grid?.isPlaced(index) ? this.camera.toScreen(grid.x[index], grid.y[index]) : null;
  }

  drawMarks(moving) {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (!this.morph) {
      this.drawLinks();
      if (this.scene.showFeatures || this.scene.showNames) this.labels.draw(this, moving);
      this.drawRings();
    }
    if (this.lasso.length) this.drawLasso();
  }

  drawLinks() {
    const { context } = this;
    context.strokeStyle = this.theme.accent;
    for (const [one, other, strength] of this.links) {
      const from = this.place("node", one);
      const to = this.place("node", other);
      if (!from || !to) continue;
      context.globalAlpha = 0.15 + 0.5 * Math.max(strength, 0) ** 3;
      context.lineWidth = 1.2;
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawRings() {
    const { context, theme } = this;
    const radius = this.radius() / this.ratio + 3;
    for (const { kind, index, strong, label } of this.rings) {
      const at = this.place(kind, index);
      if (!at) continue;
      for (const [width, color] of [
        [strong ? 5 : 3.5, css(theme.background)],
        [strong ? 2.5 : 1.5, theme.accent],
      ]) {
        context.beginPath();
        context.arc(...at, strong ? radius + 2 : radius, 0, 2 * Math.PI);
        context.lineWidth = width;
        context.strokeStyle = color;
        context.stroke();
      }
      if (label) this.labels.write(this, label, at[0], at[1] - radius - 9, strong ? "600 13px" : "12px");
    }
  }

  drawLasso() {
    const { context } = this;
    context.beginPath();
    for (const point of this.lasso) context.lineTo(...this.camera.toScreen(...point));
    context.closePath();
    context.fillStyle = context.strokeStyle = this.theme.accent;
    context.globalAlpha = 0.12;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.setLineDash([5, 4]);
    context.stroke();
    context.setLineDash([]);
  }
}

/** Positions of every `step`-th point between two grids; a point that one of them does not have is where the other is. */
function interpolated(from, to, share, step) {
  const x = new Float32Array(to.size).fill(NaN);
  const y = new Float32Array(to.size);
  for (let i = 0; i < to.size; i += step) {
    const before = from.isPlaced(i) ? from : to;
    const after = to.isPlaced(i) ? to : from;
    if (!after.isPlaced(i)) continue; // in neither
    x[i] = before.x[i] + (after.x[i] - before.x[i]) * share;
    y[i] = before.y[i] + (after.y[i] - before.y[i]) * share;
  }
  return [x, y];
}

function prefersStill() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
