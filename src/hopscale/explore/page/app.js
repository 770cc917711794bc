// What is chosen and shown, and what follows when that changes.

import { read, written } from "./address.js";
import { Camera } from "./camera.js";
import { CodedVectors } from "./coded.js";
import { css, packed } from "./colors.js";
import { Coloring } from "./coloring.js";
import { Membership } from "./data.js";
import { byId, count, element, short } from "./dom.js";
import { Grid } from "./grid.js";
import { Renderer } from "./renderer.js";
import { Vectors } from "./vectors.js";

const INK = { light: "#1d232b", dark: "#e8ebef" };
const MARK = { light: "#39424e", dark: "#c5cdd6" };
const ACCENT = { light: "#0b62c4", dark: "#6cb1ff" };

export class App {
  constructor(facts, blocks) {
    Object.assign(this, { facts, blocks });
    this.camera = new Camera();
    this.renderer = new Renderer(byId("points"), this.camera);
    this.renderer.onframe = () => this.keepAddress();
    this.defaultColor = facts.colorings[0]?.id ?? "none";
    this.state = {
      map: 0,
      color: this.defaultColor,
      feature: null,
      hidden: new Set(),
      selected: null,
      picked: null,
      hits: null,
      showFeatures: true,
      theme: null,
    };
    this.coloring = new Coloring(facts, blocks, this.themeName);
    this.grids = new Map();
    this.isHome = true;
    this.underWay = 0; // changes that are not shown yet
    this.nodes = this.features = { length: 0, at: () => "" };
  }

  // What the page has.

  get themeName() {
    return this.state.theme ?? (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  get colorIds() {
    const byFeature = this.facts.nFeatures ? [...(this.blocks.has("owners") ? ["has"] : []), "product"] : [];
    return [...this.facts.colorings.map(({ id }) => id), ...byFeature, "none"];
  }

  /** The scale of the map that is shown: -1 for all dimensions. */
  get scale() {
    return this.facts.maps[this.state.map].scale;
  }

  namesOf(kind) {
    return kind === "node" ? this.nodes : this.features;
  }

  /** Indexes of the points of a map, of nodes and of features, made once. */
  async gridsOf(map) {
    if (!this.grids.has(map)) {
      const nodes = new Grid(await this.blocks.get(`positions-${map}`));
      const features = this.facts.nFeatures ? new Grid(await this.blocks.get(`feature-positions-${map}`)) : null;
      this.grids.set(map, { nodes, features });
    }
    return this.grids.get(map);
  }

  /** Vectors of nodes and features, decoded when they are first asked for. */
  vectors() {
    this.reading ??= (async () => {
      const { scales, nFeatures } = this.facts;
      const read = async (what) => {
        const parts = [await this.blocks.get(`${what}-vectors`), await this.blocks.get(`${what}-factors`), scales];
        const isCoded = this.blocks.has(`${what}-centres`);
        return isCoded ? new CodedVectors(...parts, await this.blocks.get(`${what}-centres`)) : new Vectors(...parts);
      };
      return { nodes: await read("node"), features: nFeatures ? await read("feature") : null };
    })();
    return this.reading;
  }

  async readNames() {
    this.nodes = await this.blocks.names("node-names");
    if (this.facts.nFeatures) this.features = await this.blocks.names("feature-names");
    if (this.blocks.has("owners")) {
      const [owners, steps] = [await this.blocks.get("owners"), await this.blocks.get("owner-steps")];
      this.membership = new Membership(owners, steps, this.facts.nNodes);
    }
    const { labels } = this.renderer;
    labels.nodeName = (node) => this.nodes.at(node);
    if (this.facts.nFeatures) {
      labels.features = { order: await this.blocks.get("feature-order"), name: (feature) => this.features.at(feature) };
    }
  }

  // Changes.

  /** Change what is chosen, and show what follows from it. */
  update(changes) {
    return this.counted(this.apply(changes));
  }

  /** Count work that has begun and not ended: what was chosen may need data that must be decoded first. */
  async counted(work) {
    this.underWay++;
    try {
      return await work;
    } finally {
      this.underWay--;
    }
  }

  async apply(changes) {
    const before = this.state;
    this.state = { ...before, ...changes };
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const last = this.renderer.scene;
    const grids = await this.gridsOf(this.state.map);
    const colors = await this.colors();
    if (turn !== this.turn) return;
    const { showFeatures, map } = this.state;
    this.base = colors;
    this.renderer.scene = {
      grid: grids.nodes,
      features: grids.features,
      ...this.coloring.focused(colors, this.mask()),
      showFeatures: showFeatures && Boolean(grids.features),
      showNames: true,
      featureColors: this.featureColors(),
      allFeatures: Boolean(this.state.hits), // what a search finds is drawn, however much that is
    };
    if (last && map !== before.map) this.renderer.morphFrom(last.grid, last.features);
    this.mark();
    this.renderer.request();
    this.onupdate(before);
    this.keepAddress();
  }

  onupdate() {}

  async colors() {
    const { color, map, feature, hidden } = this.state;
    const { coloring, facts } = this;
    const choice = facts.colorings.find(({ id }) => id === color);
    if (choice) return coloring.byChoice(choice, map, hidden);
    if (color === "has" && feature !== null && this.membership) {
      return coloring.byMembership(this.features.at(feature), this.membership.nodesOf(feature), facts.nNodes, hidden);
    }
    if (color === "product" && feature !== null) {
      const { nodes, features } = await this.vectors();
      const scores = nodes.estimates(features.row(feature), this.scale).map((score) => Math.max(score, 0));
      const note =
        "Logarithm of how many times more often the feature is met around a node than elsewhere: an estimate.";
      return coloring.byValue(scores, { name: this.features.at(feature), note });
    }
    return {
      colors: new Uint32Array(facts.nNodes).fill(packed(this.themeName === "dark" ? "#8fa3b8" : "#55708c")),
      legend: null,
    };
  }

  /** 1 for nodes that stand out: those within a lasso, or those that a search has found. */
  mask() {
    const rows = this.state.picked ?? this.state.hits?.nodes;
    if (!rows) return null;
    const mask = new Uint8Array(this.facts.nNodes);
    for (const node of rows) mask[node] = 1;
    return mask;
  }

  featureColors() {
    const colors = new Uint32Array(this.facts.nFeatures);
    const hits = this.state.hits?.features;
    if (!hits) return colors.fill(packed(MARK[this.themeName]));
    for (const feature of hits) colors[feature] = packed(ACCENT[this.themeName]);
    return colors;
  }

  colorOf(node) {
    return this.base.over?.[node] || this.base.colors[node] || this.coloring.neutral;
  }

  setTheme() {
    const name = this.themeName;
    document.documentElement.dataset.theme = name;
    this.coloring.setTheme(name);
    this.renderer.theme = { background: this.coloring.background, ink: packed(INK[name]), accent: ACCENT[name] };
  }

  switchTheme() {
    this.state.theme = this.themeName === "dark" ? "light" : "dark";
    this.setTheme();
    return this.update({});
  }

  /** Rings around what is selected and hovered. */
  mark() {
    const { selected } = this.state;
    const { renderer } = this;
    renderer.rings = (this.near ?? []).map((index) => ({ kind: "node", index }));
    if (!selected) renderer.links = [];
    if (this.hovered) renderer.rings.push({ ...this.hovered });
    if (selected)
      renderer.rings.push({ ...selected, strong: true, label: this.namesOf(selected.kind).at(selected.index) });
  }

  /** Lines from a node to its neighbours, and rings around these: pairs [node, strength]. */
  setLinks(node, near) {
    this.near = near.map(([other]) => other);
    this.renderer.links = node < 0 ? [] : near.map(([other, strength]) => [node, other, strength]);
    this.mark();
    this.renderer.request();
  }

  // Movement.

  pan(dx, dy) {
    this.renderer.flight = null;
    this.isHome = false;
    this.camera.pan(dx, dy);
    this.renderer.request(true);
  }

  zoom(px, py, factor, smooth = false) {
    const from = this.camera.view;
    this.renderer.flight = null;
    this.isHome = false;
    this.camera.zoomAt(px, py, factor);
    const to = this.camera.view;
    if (smooth) {
      this.camera.view = from;
      this.renderer.fly(to, 220);
    } else this.renderer.request(true);
  }

  goHome(duration) {
    this.isHome = true;
    this.renderer.fly(this.camera.home, duration);
  }

  flyTo(kind, index) {
    const grid = kind === "node" ? this.renderer.scene.grid : this.renderer.scene.features;
    if (!grid.isPlaced(index)) return;
    const scale = Math.max(this.camera.scale, 6 * this.camera.home.scale);
    this.isHome = false;
    this.renderer.fly({ x: grid.x[index], y: grid.y[index], scale });
  }

  // Pointing at things.

  /** What is at a pixel: a feature where these are shown, or else a node. */
  at(px, py, isFinger = false) {
    const { scene } = this.renderer;
    const [x, y] = this.camera.toMap(px, py);
    const reach = (pixels) => pixels / this.camera.scale;
    const more = isFinger ? 10 : 0;
    const shown = this.renderer.shownFeatures();
    const feature = scene.showFeatures ? scene.features.nearest(x, y, reach(5 + more / 2), (i) => shown[i]) : -1;
    if (feature >= 0) return { kind: "feature", index: feature };
    const radius = this.renderer.radius() / this.renderer.ratio;
    const node = scene.grid.nearest(
      x,
      y,
      reach(Math.max(radius + 2, 6) + more),
      (i) => scene.under[i] || scene.over?.[i],
    );
    return node < 0 ? null : { kind: "node", index: node };
  }

  click(px, py, isFinger) {
    const found = this.at(px, py, isFinger);
    if (found) this.select(found.kind, found.index);
    else if (this.state.selected) this.clear();
  }

  selectMiddle() {
    const [x, y] = this.camera.toMap(...this.camera.middle);
    const { scene } = this.renderer;
    const node = scene.grid.nearest(x, y, 120 / this.camera.scale, (i) => scene.under[i] || scene.over?.[i]);
    if (node >= 0) this.select("node", node).then(() => this.panel.focus());
    else this.say("There is no node near the middle");
  }

  /** Nodes within a polygon of the map. */
  within(path) {
    const { scene } = this.renderer;
    return scene.grid.within(path, (i) => scene.under[i] || scene.over?.[i]);
  }

  // What is known of nodes.

  /** A node's labels, cluster and the like: elements. */
  async describe(node) {
    const found = [];
    for (const choice of this.facts.colorings) {
      const data = await this.blocks.get(choice.block ?? choice.blocks[this.state.map]);
      if (choice.kind === "values") {
        if (!Number.isNaN(data[node])) found.push(element("span", {}, `${choice.name}: ${short(data[node])}`));
        continue;
      }
      const name = choice.classes[data[node]];
      if (name === undefined) continue;
      const color = this.coloring.classColor(choice, data[node]);
      const swatch = element("span", { class: "swatch", style: { background: css(color) } });
      found.push(element("span", {}, swatch, name));
    }
    return found;
  }

  /** How many of some nodes are of each class, by the colours that are shown. */
  async classShares(rows) {
    const choice = this.facts.colorings.find(({ id, kind }) => kind === "classes" && id === this.state.color);
    if (!choice) return null;
    const codes = await this.blocks.get(choice.block ?? choice.blocks[this.state.map]);
    const part = this.coloring.byClass(
      choice,
      Uint32Array.from(rows, (node) => codes[node]),
      new Set(),
    );
    return { title: choice.name, entries: part.legend.entries.sort((a, b) => b.count - a.count) };
  }

  /** Columns for a table of nodes: labels and values, not clusters, as functions from node to text. */
  async labelColumns() {
    const columns = [];
    for (const choice of this.facts.colorings.filter(({ block }) => block)) {
      const data = await this.blocks.get(choice.block);
      const text =
        choice.kind === "classes"
          ? (i) => choice.classes[data[i]] ?? ""
          : (i) => (Number.isNaN(data[i]) ? "" : String(data[i]));
      columns.push({ name: choice.name, text });
    }
    return columns;
  }

  say(text) {
    byId("status").textContent = text;
  }

  // The address.

  keepAddress() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => {
      this.keeping = null;
      if (!this.isReady) return;
      const text = written(this.state, this);
      if (text !== location.hash.slice(1)) history.replaceState(null, "", `#${text}`);
    }, 250);
  }

  restored() {
    return read(location.hash.slice(1), this);
  }

  get size() {
    const { nNodes, nFeatures, nAll } = this.facts;
    const nodes = nAll > nNodes ? `${count(nNodes)} of ${count(nAll)} nodes` : `${count(nNodes)} nodes`;
    return nFeatures ? `${nodes}, ${count(nFeatures)} features` : nodes;
  }
}
