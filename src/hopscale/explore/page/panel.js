// The panel of details: of a node, of a feature, or of the nodes within a lasso.

import { css } from "./colors.js";
import { byId, count, csv, download, element, segments, short } from "./dom.js";
import { leading } from "./vectors.js";
import { standingOut } from "./selection.js";

const NEAREST = 10;
const LISTED = 100; // nodes of a selection that are listed
const CHIPS = 40; // own features of a node that are listed

export class Panel {
  constructor(root, app) {
    Object.assign(this, { root, app, scale: -1, turn: 0 });
  }

  close() {
    this.turn++;
    if (this.hasFocus) byId("map").focus(); // which would be lost, and arrows would not move the map
    this.root.hidden = true;
    this.app.panelChanged();
  }

  /** Fill the panel; contents that vectors are needed for come when these are there. */
  open(children) {
    const { hasFocus } = this;
    this.root.replaceChildren(...children);
    this.root.scrollTop = 0;
    this.root.hidden = false;
    if (hasFocus) this.focus();
    this.app.panelChanged();
  }

  get hasFocus() {
    return this.root.contains(document.activeElement);
  }

  /** Let keys go on from here: the lists of a node are far from the search and from the map by Tab. */
  focus() {
    this.root.focus({ preventScroll: true });
  }

  header(title, facts) {
    const cross = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    cross.setAttribute("viewBox", "0 0 24 24");
    path.setAttribute("d", "M6 6l12 12M18 6 6 18");
    cross.append(path);
    const button = element(
      "button",
      { class: "icon", type: "button", "aria-label": "Close", onclick: () => this.app.clear() },
      cross,
    );
    return [element("header", {}, element("h2", {}, title), button), element("div", { class: "facts" }, ...facts)];
  }

  scaleChoice(onchange) {
    const { facts } = this.app;
    if (facts.scales.length < 2) return [];
    const options = [[-1, "All", "All scales"], ...facts.scales.map(({ label, name }, s) => [s, label, name])];
    return [
      element(
        "div",
        { class: "segments", role: "radiogroup", "aria-label": "Scale of the lists below" },
        ...segments("panel-scale", options, this.scale, (scale) => {
          this.scale = scale;
          onchange();
        }),
      ),
    ];
  }

  async showNode(node) {
    const { app } = this;
    const turn = ++this.turn;
    const lists = element("div");
    const fill = async () => {
      const vectors = await app.vectors();
      if (turn !== this.turn) return;
      lists.replaceChildren(...this.nearTo(node, vectors), ...this.featuresAround(node, vectors));
    };
    lists.append(element("p", { class: "note" }, "Reading vectors …"));
    const facts = ["node", ...(await app.describe(node))];
    if (turn !== this.turn) return;
    this.open([
      ...this.header(
        app.nodes.at(node),
        facts.map((fact) => (fact instanceof Node ? fact : element("span", {}, fact))),
      ),
      ...this.scaleChoice(fill),
      lists,
      ...this.ownFeatures(node),
    ]);
    await fill();
  }

  nearTo(node, { nodes }) {
    if (!nodes.isKnown(node, this.scale)) {
      this.app.setLinks(node, []);
      return [element("p", { class: "note" }, "Nothing is known of this node here: its vector is zero.")];
    }
    const cosines = nodes.cosines(nodes.row(node), this.scale);
    const near = leading(cosines, NEAREST, (other) => other !== node && nodes.isKnown(other, this.scale));
    this.app.setLinks(node, near);
    return [
      this.list(
        "Nearest nodes, by cosine",
        near.map(([other, cosine]) => this.nodeRow(other, cosine, cosine)),
      ),
    ];
  }

  featuresAround(node, { nodes, features }) {
    if (!features?.length || !nodes.isKnown(node, this.scale)) return [];
    const scores = features.estimates(nodes.row(node), this.scale);
    const own = new Set(this.app.membership?.featuresOf(node));
    const found = leading(scores, NEAREST, (feature) => scores[feature] > 0 && features.isKnown(feature, this.scale));
    const rows = found.map(([feature, score]) =>
      this.featureRow(feature, score, score / found[0][1], own.has(feature)),
    );
    return [this.list("Features that stand out", rows), this.howKnown()];
  }

  howKnown() {
    const { scales } = this.app.facts;
    const shares = this.scale < 0 ? [] : [scales[this.scale].captured];
    const part = shares[0] ? ` The vectors hold ${Math.round(100 * shares[0])} % of this scale's matrix.` : "";
    return element(
      "p",
      { class: "note" },
      `Logarithms of how many times more often they are met, as the vectors estimate them.${part}`,
    );
  }

  ownFeatures(node) {
    const { app } = this;
    if (!app.membership) return [];
    const own = app.membership.featuresOf(node);
    const chips = [...own.subarray(0, CHIPS)].map((feature) =>
      element(
        "button",
        { class: "chip", type: "button", onclick: () => app.select("feature", feature) },
        app.features.at(feature),
      ),
    );
    const more = own.length - chips.length;
    return [
      element(
        "section",
        {},
        element("h3", {}, `Own features (${count(own.length)})`),
        element("div", { class: "chips" }, ...chips),
        more > 0 ? element("p", { class: "note" }, `and ${count(more)} more`) : null,
      ),
    ];
  }

  async showFeature(feature) {
    const { app } = this;
    const turn = ++this.turn;
    const lists = element("div");
    const fill = async () => {
      const { nodes, features } = await app.vectors();
      if (turn !== this.turn) return;
      const vector = features.row(feature);
      const scores = nodes.estimates(vector, this.scale);
      const around = leading(scores, NEAREST, (node) => scores[node] > 0);
      const alike = leading(
        features.cosines(vector, this.scale),
        NEAREST,
        (other) => other !== feature && features.isKnown(other, this.scale),
      );
      app.setLinks(-1, around);
      lists.replaceChildren(
        this.list(
          "Nodes around which it stands out",
          around.map(([node, score]) => this.nodeRow(node, score, score / around[0][1])),
        ),
        this.howKnown(),
        this.list(
          "Similar features, by cosine",
          alike.map(([other, cosine]) => this.featureRow(other, cosine, cosine)),
        ),
      );
    };
    lists.append(element("p", { class: "note" }, "Reading vectors …"));
    const owners = app.membership?.nodesOf(feature).length;
    const facts = ["feature", ...(owners === undefined ? [] : [`of ${count(owners)} nodes`])].map((text) =>
      element("span", {}, text),
    );
    const color = (mode, text) =>
      element(
        "button",
        { class: "plain", type: "button", onclick: () => app.update({ color: mode, feature, hidden: new Set() }) },
        text,
      );
    this.open([
      ...this.header(app.features.at(feature), facts),
      element(
        "div",
        { class: "buttons" },
        ...(app.membership ? [color("has", "Colour its nodes")] : []),
        color("product", "Colour by score"),
      ),
      ...this.scaleChoice(fill),
      lists,
    ]);
    await fill();
  }

  async showSelection(rows, title) {
    const { app } = this;
    const turn = ++this.turn;
    const found = element("div");
    const list = [...rows.subarray(0, LISTED)].map((node) => this.nodeRow(node, null, 0));
    const more = rows.length - list.length;
    const save = element(
      "button",
      { class: "main", type: "button", id: "download", onclick: () => this.save(rows) },
      "Download CSV",
    );
    const share = rows.length / app.facts.nNodes;
    const facts = [`${share > 0 && share < 0.001 ? "under 0.1" : short(100 * share)} % of all nodes`];
    const shares = await app.classShares(rows);
    if (turn !== this.turn) return;
    this.open([
      ...this.header(title ?? `${count(rows.length)} ${rows.length === 1 ? "node" : "nodes"}`, facts),
      element("div", { class: "buttons" }, save),
      ...(shares
        ? [
            this.list(
              shares.title,
              shares.entries.map((entry) => this.shareRow(entry, rows.length)),
            ),
          ]
        : []),
      found,
      this.list("Nodes", list),
      ...(more > 0 ? [element("p", { class: "note" }, `and ${count(more)} more, in the file`)] : []),
    ]);
    const features = await standingOut(rows, app, NEAREST);
    if (turn !== this.turn || !features.rows.length) return;
    const largest = features.rows[0].size;
    found.replaceChildren(
      this.list(
        "Features that stand out",
        features.rows.map(({ feature, size, text }) => this.featureRow(feature, text, size / largest)),
      ),
      element("p", { class: "note" }, features.note),
    );
  }

  async save(rows) {
    const { app } = this;
    const columns = await app.labelColumns();
    const lines = [["id", ...columns.map(({ name }) => name)]];
    for (const node of rows) lines.push([app.nodes.at(node), ...columns.map(({ text }) => text(node))]);
    download("nodes.csv", csv(lines));
    app.say(`${count(rows.length)} ids downloaded`);
  }

  list(title, rows) {
    const items = rows.length ? rows.map((row) => element("li", {}, row)) : [element("li", { class: "note" }, "none")];
    return element("section", {}, element("h3", {}, title), element("ol", {}, ...items));
  }

  row(name, number, share, onclick, ...marks) {
    return element(
      "button",
      { class: "row", type: "button", onclick, title: name },
      element("span", { class: "fill", style: { width: `${Math.round(100 * Math.min(Math.max(share, 0), 1))}%` } }),
      ...marks,
      element("span", { class: "name" }, name),
      number === null
        ? null
        : element("span", { class: "number" }, typeof number === "string" ? number : number.toFixed(3)),
    );
  }

  nodeRow(node, number, share) {
    const swatch = element("span", { class: "swatch", style: { background: css(this.app.colorOf(node)) } });
    return this.row(this.app.nodes.at(node), number, share, () => this.app.select("node", node, { fly: true }), swatch);
  }

  featureRow(feature, number, share, isOwn = false) {
    const row = this.row(this.app.features.at(feature), number, share, () =>
      this.app.select("feature", feature, { fly: true }),
    );
    if (isOwn)
      row.lastChild.before(element("span", { class: "own", title: "The node has this feature itself" }, "own"));
    return row;
  }

  shareRow({ name, color, count: nodes }, total) {
    const swatch = element("span", { class: "swatch", style: { background: css(color) } });
    const made = this.row(name, `${count(nodes)} · ${short((100 * nodes) / total)} %`, nodes / total, () => {}, swatch);
    made.disabled = true;
    return made;
  }
}
