// Puts the page together: elements, what they do, and the first picture.

import { written } from "./address.js";
import { App } from "./app.js";
import { Blocks, readFacts } from "./data.js";
import { byId, count, element, segments } from "./dom.js";
import { showLegend } from "./legend.js";
import { Panel } from "./panel.js";
import { Pointer } from "./pointer.js";
import { NameIndex, SearchBox } from "./search.js";

/** The application with its elements. */
class Page extends App {
  constructor(facts, blocks) {
    super(facts, blocks);
    this.panel = new Panel(byId("panel"), this);
    this.pointer = new Pointer(byId("map"), this);
    this.fillControls();
    this.connectTools();
  }

  fillControls() {
    const { facts } = this;
    byId("title").textContent = facts.title;
    byId("subtitle").textContent = `${facts.model} · ${this.size}`;
    byId("made").textContent = facts.made;
    const options = facts.maps.map(({ short, name }, map) => [map, short, name]);
    byId("maps").hidden = options.length < 2;
    byId("maps")
      .querySelector(".segments")
      .append(...segments("map", options, 0, (map) => this.showMap(map)));
    const byFeature = this.colorIds.includes("product")
      ? [...(this.colorIds.includes("has") ? [["has", "Feature: who has it"]] : []), ["product", "Feature: score"]]
      : [];
    const colors = [...facts.colorings.map(({ id, name }) => [id, name]), ...byFeature, ["none", "Nothing"]];
    byId("color").append(...colors.map(([value, text]) => element("option", { value }, text)));
    byId("color").addEventListener("change", (event) => this.chooseColor(event.target.value));
    byId("features").hidden = !facts.nFeatures;
    if (!facts.nFeatures) byId("search-input").placeholder = "Search nodes";
  }

  connectTools() {
    const on = (id, action) => byId(id).addEventListener("click", action);
    on("zoom-in", () => this.zoom(...this.camera.middle, 1.6, true));
    on("zoom-out", () => this.zoom(...this.camera.middle, 1 / 1.6, true));
    on("reset", () => this.reset());
    on("lasso", () => this.pointer.setLasso(!this.pointer.isLasso));
    on("features", () => this.update({ showFeatures: !this.state.showFeatures }));
    on("theme", () => this.switchTheme());
    on("help", () => this.showHelp());
    on("help-close", () => byId("help-dialog").close());
    on("unfold", () => {
      const open = byId("controls").classList.toggle("unfolded");
      byId("unfold").setAttribute("aria-expanded", String(open));
    });
    window.addEventListener("resize", () => this.resize());
    window.addEventListener("hashchange", () => this.restore());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.setTheme();
      this.update({});
    });
  }

  connectSearch() {
    const nodes = new NameIndex("node", this.nodes);
    const features = new NameIndex("feature", this.features);
    this.search = new SearchBox(byId("search"), this.facts.nFeatures ? [nodes, features] : [nodes], {
      onpick: (kind, row) => this.picked(kind, row),
      onhits: (found, text) => this.showHits(found, text),
    });
    this.featureSearch = new SearchBox(byId("feature-search"), [features], {
      onpick: (_, feature) => {
        byId("feature-input").value = this.features.at(feature);
        this.update({ feature, hidden: new Set() });
      },
    });
  }

  async start() {
    this.setTheme();
    await this.gridsOf(0);
    performance.mark("indexed");
    this.resize();
    await this.update({});
    byId("loading").hidden = true;
    this.renderer.draw(false); // without waiting for the next frame
    performance.mark("drawn");
    await this.readNames();
    this.connectSearch();
    this.isReady = true;
    if (location.hash.length > 1) await this.restore();
    else await this.update({});
    performance.mark("interactive");
    document.documentElement.dataset.ready = "true";
    const idle = window.requestIdleCallback ?? ((callback) => setTimeout(callback, 200));
    idle(() => this.vectors());
  }

  /** Adapt to the window's size; the map is centred in what the cards leave free. */
  resize() {
    const { innerWidth: width, innerHeight: height } = window;
    const isWide = width > 720;
    const panel = byId("panel");
    const free = { left: 0, right: 0, top: 0, bottom: isWide ? 56 : 60 };
    if (width > 960) free.left = 308;
    if (width > 1100 && !panel.hidden) free.right = 348;
    if (!isWide) free.top = 110;
    if (!isWide && !panel.hidden) free.bottom = height * 0.46;
    const before = this.camera.view;
    const was = this.camera.width > 1 ? this.camera.toMap(0, 0) : null;
    this.camera.resize(width, height, free);
    this.camera.setHome(this.grids.get(this.state.map)?.nodes.box ?? [-1, -1, 1, 1]);
    this.renderer.resize(width, height);
    if (this.isHome) this.camera.view = this.camera.home;
    else if (was) {
      this.camera.view = before; // what is on the screen stays where it is
      const now = this.camera.toMap(0, 0);
      this.camera.view = { ...before, x: before.x + was[0] - now[0], y: before.y + was[1] - now[1] };
    }
    this.renderer.draw(false);
    this.renderer.request();
  }

  panelChanged() {
    byId("tools").classList.toggle("raised", !byId("panel").hidden);
    if (this.grids.size) this.resize();
  }

  // Choices.

  showMap(map) {
    const scale = this.facts.maps[map].scale;
    this.panel.scale = scale;
    this.say(this.facts.maps[map].name);
    return this.update({ map }).then(() => {
      this.camera.setHome(this.renderer.scene.grid.box);
      if (this.isHome) this.goHome(700);
      if (this.state.selected) this.showDetails();
    });
  }

  nextMap(step) {
    const { length } = this.facts.maps;
    return this.showMap((this.state.map + step + length) % length);
  }

  chooseColor(color) {
    if (["has", "product"].includes(color) && this.state.feature === null) {
      const { selected } = this.state;
      const feature =
        selected?.kind === "feature"
          ? selected.index
          : this.facts.nFeatures
            ? this.renderer.labels.features.order[0]
            : null;
      return this.update({ color, feature, hidden: new Set() });
    }
    return this.update({ color, hidden: new Set() });
  }

  /** Bring the controls in line with what is chosen. */
  onupdate(before) {
    const { map, color, feature, showFeatures } = this.state;
    document.querySelectorAll("input[name=map]").forEach((input, i) => (input.checked = i === map));
    byId("color").value = color;
    const byFeature = ["has", "product"].includes(color);
    byId("feature-search").hidden = !byFeature;
    if (byFeature && feature !== before.feature && feature !== null)
      byId("feature-input").value = this.features.at(feature);
    byId("features").setAttribute("aria-pressed", String(showFeatures));
    showLegend(byId("legend"), this.base.legend, {
      onhide: (hidden) => this.update({ hidden }),
      onlist: (entry) => this.listEntry(entry),
    });
  }

  /** Select all nodes of an entry of the legend. */
  listEntry(entry) {
    const choice = this.facts.colorings.find(({ id }) => id === this.state.color);
    const isIn = (code) => this.coloring.entryOf(choice, code) === entry.at;
    const all = Uint32Array.from({ length: this.facts.nNodes }, (_, i) => i);
    const rows = choice
      ? this.blocks
          .get(choice.block ?? choice.blocks[this.state.map])
          .then((codes) => all.filter((i) => isIn(codes[i])))
      : Promise.resolve(all.filter((i) => Boolean(this.base.over[i]) === (entry.at === 0)));
    return rows.then((found) => this.choose(found, entry.name));
  }

  // Selections.

  select(kind, index, { fly = false } = {}) {
    return this.counted(this.showSelected(kind, index, fly));
  }

  async showSelected(kind, index, fly) {
    this.hover(null);
    this.near = [];
    this.renderer.links = [];
    this.panel.scale = this.state.selected ? this.panel.scale : this.scale;
    const isColor = kind === "feature" && ["has", "product"].includes(this.state.color);
    const color = isColor ? { feature: index, hidden: new Set() } : {};
    await this.update({ selected: { kind, index }, picked: null, hits: null, ...color });
    await this.showDetails();
    const at = this.renderer.place(kind, index);
    const { width, height, free } = this.camera;
    const isHidden =
      !at || at[0] < free.left || at[1] < free.top || at[0] > width - free.right || at[1] > height - free.bottom;
    if (fly || isHidden) this.flyTo(kind, index);
    this.say(`${kind} ${this.namesOf(kind).at(index)}`);
  }

  showDetails() {
    const { kind, index } = this.state.selected;
    return kind === "node" ? this.panel.showNode(index) : this.panel.showFeature(index);
  }

  async picked(kind, row) {
    this.search.clear();
    await this.select(kind, row, { fly: true });
    this.panel.focus();
  }

  /** Let what a search finds stand out; a map without it would say nothing, so nothing is dimmed then. */
  showHits(found, text) {
    if (!found) return this.update({ hits: null });
    const rows = Object.fromEntries(found.map(({ index, rows }) => [`${index.kind}s`, rows]));
    const total = found.reduce((sum, { rows }) => sum + rows.length, 0);
    this.say(`${count(total)} hits for ${text}`);
    return this.update({ hits: total ? { nodes: rows.nodes, features: rows.features ?? [] } : null, picked: null });
  }

  drawLasso(path) {
    this.renderer.lasso = path;
    this.renderer.request(true);
  }

  closeLasso(path) {
    this.renderer.lasso = [];
    return this.choose(this.within(path));
  }

  lassoChanged(on) {
    byId("lasso").setAttribute("aria-pressed", String(on));
    if (on) this.say("Draw around nodes");
  }

  async choose(rows, title) {
    this.near = [];
    if (!rows.length) {
      this.say("No node lies within");
      return this.clear();
    }
    await this.update({ picked: rows, selected: null, hits: null });
    this.say(`${count(rows.length)} nodes selected`);
    return this.panel.showSelection(rows, title);
  }

  clear() {
    this.near = [];
    this.renderer.lasso = [];
    this.search?.clear();
    this.panel.close();
    return this.update({ selected: null, picked: null, hits: null });
  }

  reset() {
    const done = this.clear();
    this.goHome();
    return done;
  }

  async restore() {
    const { view, ...state } = this.restored();
    if (written(this.state, this) === location.hash.slice(1)) return;
    this.state.theme = state.theme;
    this.setTheme();
    this.panel.scale = this.facts.maps[state.map].scale;
    await this.update({ picked: null, hits: null, selected: null, ...state });
    this.camera.setHome(this.renderer.scene.grid.box);
    if (this.state.selected) await this.showDetails();
    this.isHome = !view;
    this.camera.view = view ? { x: view[0], y: view[1], scale: view[2] * this.camera.home.scale } : this.camera.home;
    this.renderer.request();
  }

  // Words.

  /** Say what is under the pointer. */
  hover(at) {
    const found = at && this.renderer.scene && this.isReady ? this.at(...at) : null;
    const tooltip = byId("tooltip");
    byId("map").classList.toggle("over", Boolean(found));
    if (found?.kind !== this.hovered?.kind || found?.index !== this.hovered?.index) {
      this.hovered = found;
      this.mark();
      this.renderer.request();
    }
    tooltip.hidden = !found;
    if (!found) return;
    this.fillTooltip(found);
    const { innerWidth, innerHeight } = window;
    tooltip.style.left = `${Math.min(at[0] + 14, innerWidth - tooltip.offsetWidth - 8)}px`;
    tooltip.style.top = `${Math.min(at[1] + 14, innerHeight - tooltip.offsetHeight - 8)}px`;
  }

  async fillTooltip({ kind, index }) {
    const name = element("b", {}, this.namesOf(kind).at(index));
    if (kind === "feature") {
      const owners = this.membership?.nodesOf(index).length;
      byId("tooltip").replaceChildren(
        name,
        element("div", {}, owners === undefined ? "feature" : `feature of ${count(owners)} nodes`),
      );
      return;
    }
    const facts = await this.describe(index);
    if (this.hovered?.index !== index) return;
    byId("tooltip").replaceChildren(name, ...facts.map((fact) => element("div", {}, fact.textContent)));
  }

  focusSearch() {
    byId("search-input").focus();
    byId("search-input").select();
  }

  showHelp() {
    byId("help-dialog").showModal();
  }
}

const facts = readFacts();
const page = new Page(facts, new Blocks(facts.blocks));
window.hopscale = page; // for whoever wants to ask the page from the browser's console
page.start().catch((error) => {
  byId("loading").hidden = false;
  byId("loading").textContent = `This page could not be shown: ${error.message}. It needs a browser of 2023 or later.`;
  throw error;
});
