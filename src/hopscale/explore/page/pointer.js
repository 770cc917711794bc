// Mouse, touch and keys on the map.

const CLICK = 5; // pixels within which a press is a click
const PAN = 60; // pixels that an arrow key moves the map by

export class Pointer {
  constructor(surface, app) {
    Object.assign(this, { surface, app, down: new Map(), path: null, isLasso: false });
    const on = (name, handler, options) =>
      surface.addEventListener(name, (event) => handler.call(this, event), options);
    on("pointerdown", this.pressed);
    on("pointermove", this.moved);
    on("pointerup", this.released);
    on("pointercancel", this.cancelled);
    on("pointerleave", () => app.hover(null));
    on("wheel", this.wheeled, { passive: false });
    on("dblclick", (event) => app.zoom(event.clientX, event.clientY, 2, true));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  pressed(event) {
    if (event.button) return;
    this.surface.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.start = { x: event.clientX, y: event.clientY, moved: false };
    if (this.down.size === 1 && (event.shiftKey || this.isLasso)) {
      this.path = [this.app.camera.toMap(event.clientX, event.clientY)];
    } else this.path = null;
    this.app.hover(null);
  }

  moved(event) {
    const last = this.down.get(event.pointerId);
    if (!last) {
      if (event.pointerType !== "touch") this.app.hover([event.clientX, event.clientY]);
      return;
    }
    const [x, y] = [event.clientX, event.clientY];
    if (Math.hypot(x - this.start.x, y - this.start.y) > CLICK) this.start.moved = true;
    if (this.down.size === 2) this.pinch(event.pointerId, x, y);
    else if (this.path) {
      this.path.push(this.app.camera.toMap(x, y));
      this.app.drawLasso(this.path);
    } else if (this.start.moved) {
      this.surface.classList.add("dragging");
      this.app.pan(x - last.x, y - last.y);
    }
    this.down.set(event.pointerId, this.start.moved || this.down.size === 2 ? { x, y } : last);
  }

  pinch(id, x, y) {
    const before = this.down.get(id);
    const [, other] = [...this.down].find(([each]) => each !== id);
    this.start.moved = true;
    const spread = Math.hypot(before.x - other.x, before.y - other.y);
    const factor = spread ? Math.hypot(x - other.x, y - other.y) / spread : 1;
    this.app.zoom((x + other.x) / 2, (y + other.y) / 2, factor);
    this.app.pan((x - before.x) / 2, (y - before.y) / 2);
  }

  released(event) {
    if (!this.down.delete(event.pointerId)) return;
    this.surface.classList.remove("dragging");
    const { path, start } = this;
    if (path && start.moved) {
      this.path = null;
      this.setLasso(false);
      this.app.closeLasso(path);
    } else if (!start.moved && !this.down.size) {
      this.app.click(event.clientX, event.clientY, event.pointerType === "touch");
    }
    if (this.down.size) this.start.moved = true; // the last finger of a pinch does not click
  }

  cancelled(event) {
    this.down.delete(event.pointerId);
    this.path = null;
    this.app.drawLasso([]);
    this.surface.classList.remove("dragging");
  }

  wheeled(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const factor = Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016));
    this.app.zoom(event.clientX, event.clientY, Math.min(Math.max(factor, 0.3), 3));
  }

  setLasso(on) {
    this.isLasso = on;
    this.surface.classList.toggle("lasso", on);
    this.app.lassoChanged(on);
  }

  key(event) {
    const typing = event.target.closest?.("input:not([type=radio]):not([type=checkbox]), select, dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { app } = this;
    const [mx, my] = app.camera.middle;
    const isMap = event.target === this.surface || event.target === document.body;
    const anywhere = {
      "/": () => app.focusSearch(),
      "?": () => app.showHelp(),
      "[": () => app.nextMap(-1),
      "]": () => app.nextMap(1),
      "+": () => app.zoom(mx, my, 1.5, true),
      "=": () => app.zoom(mx, my, 1.5, true),
      "-": () => app.zoom(mx, my, 1 / 1.5, true),
      0: () => app.reset(),
      l: () => this.setLasso(!this.isLasso),
      f: () => app.update({ showFeatures: !app.state.showFeatures }),
      d: () => app.switchTheme(),
      Escape: () => (this.isLasso ? this.setLasso(false) : app.clear()),
    };
    const onMap = {
      ArrowLeft: () => app.pan(PAN, 0),
      ArrowRight: () => app.pan(-PAN, 0),
      ArrowUp: () => app.pan(0, PAN),
      ArrowDown: () => app.pan(0, -PAN),
      Enter: () => app.selectMiddle(),
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = anywhere[key] ?? (isMap ? onMap[key] : undefined);
    if (!action) return;
    event.preventDefault();
    action();
  }
}
