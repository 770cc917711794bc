// Where the map is seen from: positions of the map to pixels of the screen and back.

export class Camera {
  constructor() {
    this.width = this.height = 1;
    this.scale = 1; // pixels per unit of the map
    this.x = this.y = 0; // the point of the map in the middle of the free part of the screen
    this.free = { left: 0, right: 0, top: 0, bottom: 0 }; // what panels cover
    this.home = { x: 0, y: 0, scale: 1 };
  }

  get middle() {
    const { left, right, top, bottom } = this.free;
    return [(left + this.width - right) / 2, (top + this.height - bottom) / 2];
  }

  resize(width, height, free) {
    this.width = width;
    this.height = height;
    this.free = free;
  }

  /** Remember the view that shows a box, [x0, y0, x1, y1]. */
  setHome([x0, y0, x1, y1]) {
    const { left, right, top, bottom } = this.free;
    const wide = Math.max(this.width - left - right - 48, 60);
    const high = Math.max(this.height - top - bottom - 48, 60);
    const scale = Math.min(wide / Math.max(x1 - x0, 1), high / Math.max(y1 - y0, 1));
    this.home = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale };
  }

  get zoom() {
    return this.scale / this.home.scale;
  }

  toScreen(x, y) {
    const [mx, my] = this.middle;
    return [mx + (x - this.x) * this.scale, my - (y - this.y) * this.scale];
  }

  toMap(px, py) {
    const [mx, my] = this.middle;
    return [this.x + (px - mx) / this.scale, this.y - (py - my) / this.scale];
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
    this.keepInReach();
  }

  /** Zoom by a factor so that a pixel keeps showing the same point of the map. */
  zoomAt(px, py, factor) {
    const [x, y] = this.toMap(px, py);
    this.scale = Math.min(Math.max(this.scale * factor, this.home.scale * 0.4), this.home.scale * 2000);
    const [nx, ny] = this.toMap(px, py);
    this.x += x - nx;
    this.y += y - ny;
    this.keepInReach();
  }

  keepInReach() {
    this.x = Math.min(Math.max(this.x, -40000), 40000);
    this.y = Math.min(Math.max(this.y, -40000), 40000);
  }

  get view() {
    return { x: this.x, y: this.y, scale: this.scale };
  }

  set view({ x, y, scale }) {
    Object.assign(this, { x, y, scale });
    this.keepInReach();
  }

  /** The box of the map that the screen shows. */
  get visible() {
    const [x0, y1] = this.toMap(0, 0);
    const [x1, y0] = this.toMap(this.width, this.height);
    return [x0, y0, x1, y1];
  }
}

/** The view at a share of the way between two: zooming evenly, and the target moving evenly on the screen. */
export function between(one, other, share) {
  const ratio = other.scale / one.scale;
  const scale = one.scale * ratio ** share;
  const moved = Math.abs(ratio - 1) < 1e-6 ? share : (1 - ratio ** -share) / (1 - 1 / ratio);
  return { x: one.x + (other.x - one.x) * moved, y: one.y + (other.y - one.y) * moved, scale };
}

export const eased = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);
