// Many points at once: discs with smooth edges are blended into pixels, without a call of the canvas for each.

const STEPS = 4; // positions within a pixel, in either direction, for which discs are computed

/** Pixels with a margin around them, so that no disc has to be cut. */
export class Splats {
  constructor() {
    this.margin = 16;
    this.stamps = new Map();
    this.resize(1, 1);
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.stride = width + 2 * this.margin;
    this.image = new ImageData(this.stride, height + 2 * this.margin);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  clear(background) {
    this.pixels.fill(background);
  }

  /** Offsets and coverages (0 to 256) of the pixels of a disc or a diamond, for each position of its centre within a pixel. */
  stamp(radius, opacity, diamond = false) {
    const key = `${radius.toFixed(2)} ${opacity.toFixed(2)} ${this.stride} ${diamond}`;
    if (!this.stamps.has(key)) {
      if (this.stamps.size > 64) this.stamps.clear();
      const stamps = [];
      for (let sub = 0; sub < STEPS * STEPS; sub++) {
        const centre = [((sub % STEPS) + 0.5) / STEPS, (Math.floor(sub / STEPS) + 0.5) / STEPS];
        stamps.push(this.shape(radius, opacity, centre, diamond));
      }
      this.stamps.set(key, stamps);
    }
    return this.stamps.get(key);
  }

  shape(radius, opacity, [cx, cy], diamond) {
    const offsets = [];
    const coverages = [];
    const reach = Math.ceil((radius + 0.5) * (diamond ? 1.25 : 1));
    for (let y = -reach; y <= reach; y++) {
      for (let x = -reach; x <= reach; x++) {
        const dx = Math.abs(x + 0.5 - cx);
        const dy = Math.abs(y + 0.5 - cy);
        const distance = diamond ? (dx + dy) * 0.8 : Math.hypot(dx, dy);
        const coverage = Math.min(Math.max(radius + 0.5 - distance, 0), 1) * Math.min(1, (2 * radius) ** 2) * opacity;
        if (coverage > 0.02) {
          offsets.push(y * this.stride + x);
          coverages.push(Math.round(coverage * 256));
        }
      }
    }
    return { offsets: Int32Array.from(offsets), coverages: Int32Array.from(coverages) };
  }

  /**
   * Blend points. Point j from `begin` to `end` in steps of `step` is at (x[j]·a + b, y[j]·c + d) pixels and has the
   * colour colors[items[j]], or colors[j] where there are no items; a colour of 0 is not drawn.
   */
  draw(x, y, items, colors, begin, end, step, [a, b, c, d], stamps) {
    const { pixels, stride, margin } = this;
    const right = this.width + margin - 1;
    const bottom = this.height + margin - 1;
    for (let j = begin; j < end; j += step) {
      const color = colors[items ? items[j] : j];
      if (!color) continue;
      const px = x[j] * a + b;
      const py = y[j] * c + d;
      if (!(px > -margin / 2 && py > -margin / 2 && px < right - margin / 2 && py < bottom - margin / 2)) continue;
      const left = Math.floor(px);
      const top = Math.floor(py);
      const sub = Math.floor((py - top) * STEPS) * STEPS + Math.floor((px - left) * STEPS);
      const { offsets, coverages } = stamps[sub];
      const at = (top + margin) * stride + left + margin;
      const redBlue = color & 0xff00ff;
      const green = color & 0xff00;
      for (let k = 0; k < offsets.length; k++) {
        const share = coverages[k];
        const where = at + offsets[k];
        const under = pixels[where];
        const rest = 256 - share;
        pixels[where] =
          0xff000000 |
          (((redBlue * share + (under & 0xff00ff) * rest) >>> 8) & 0xff00ff) |
          (((green * share + (under & 0xff00) * rest) >>> 8) & 0xff00);
      }
    }
  }

  /** Put the pixels onto a canvas of their size. */
  show(context) {
    context.putImageData(this.image, -this.margin, -this.margin);
  }
}
