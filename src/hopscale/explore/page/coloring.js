// Colours of all nodes, by what was chosen, and the legend that explains them.

import { gradient, mixed, packed, quantiles } from "./colors.js";

const SCALE_STOPS = {
  light: ["#c3cf9b", "#93c39a", "#4fae9a", "#2a8a97", "#27638d", "#2f3d77", "#2b1c50"],
  dark: ["#33305c", "#3a528b", "#2c728e", "#21918c", "#35b779", "#8fd744", "#fde725"],
};
const NEUTRAL = { light: "#aab2bb", dark: "#5d6874" };

export class Coloring {
  constructor(facts, blocks, theme) {
    Object.assign(this, { facts, blocks });
    this.setTheme(theme);
  }

  setTheme(name) {
    this.palette = this.facts.palette.map(packed);
    this.table = gradient(SCALE_STOPS[name]);
    this.neutral = packed(NEUTRAL[name]);
    this.background = packed(name === "dark" ? "#101419" : "#fbfbfa");
  }

  /** The ways to colour that need no feature. */
  get choices() {
    return this.facts.colorings;
  }

  /** Colours by one of the choices; `hidden` are entries of the legend that are switched off. */
  async byChoice(choice, map, hidden) {
    const data = await this.blocks.get(choice.block ?? choice.blocks[map]);
    return choice.kind === "classes" ? this.byClass(choice, data, hidden) : this.byValue(data, choice);
  }

  /** The legend's entry of a class: its own, that of all small classes, or that of nodes without a class. */
  entryOf(choice, code) {
    const { length } = choice.classes;
    const own = Math.min(length, length > this.palette.length ? this.palette.length - 1 : length);
    return code < own ? code : code < length ? own : own + 1;
  }

  classColor(choice, code) {
    return code < choice.classes.length ? this.palette[this.entryOf(choice, code)] : this.neutral;
  }

  byClass(choice, codes, hidden) {
    const { classes } = choice;
    const entries = [];
    const colorOf = new Uint32Array(classes.length + 1);
    for (let code = 0; code <= classes.length; code++) {
      const at = this.entryOf(choice, code);
      entries[at] ??= { name: classes[code], color: this.classColor(choice, code), count: 0, at, classes: 0 };
      entries[at].classes++;
      colorOf[code] = hidden.has(at) ? 0 : entries[at].color;
    }
    const colors = new Uint32Array(codes.length);
    const counts = new Uint32Array(classes.length + 1);
    for (let i = 0; i < codes.length; i++) {
      colors[i] = colorOf[codes[i]];
      counts[codes[i]]++;
    }
    counts.forEach((count, code) => (entries[this.entryOf(choice, code)].count += count));
    for (const entry of entries.filter(Boolean)) {
      if (entry.classes > 1) entry.name = `${entry.classes} other classes`;
      if (entry.at === this.entryOf(choice, classes.length)) entry.name = choice.missing ?? "No label";
    }
    const shown = entries.filter((entry) => entry && entry.count);
    return { colors, legend: { kind: "classes", title: choice.name, entries: shown, hidden } };
  }

  byValue(values, { name, log = false, note = "" }) {
    const [low, high] = quantiles(values, [0.02, 0.98]);
    const at = log ? (value) => Math.log1p(value) : (value) => value;
    const span = at(high) - at(low);
    const colors = new Uint32Array(values.length);
    const beyond = { low: false, high: false };
    let missing = 0;
    values.forEach((value, i) => {
      beyond.low ||= value < low;
      beyond.high ||= value > high;
      missing += Number.isNaN(value);
      const share = span ? Math.min(Math.max((at(value) - at(low)) / span, 0), 1) : 0.5;
      colors[i] = Number.isNaN(value) ? this.neutral : this.table[Math.round(share * 255)];
    });
    const { neutral, table } = this;
    return { colors, legend: { kind: "values", title: name, low, high, beyond, missing, neutral, note, table } };
  }

  /** Nodes that have a feature, and the others. */
  byMembership(name, nodes, total, hidden) {
    const colors = new Uint32Array(total).fill(hidden.has(1) ? 0 : mixed(this.neutral, this.background, 0.5));
    const has = new Uint32Array(total);
    for (const node of nodes) {
      has[node] = hidden.has(0) ? 0 : this.palette[5];
      colors[node] = 0;
    }
    const entries = [
      { name: `have ${name}`, color: this.palette[5], count: nodes.length, at: 0 },
      { name: "do not", color: this.neutral, count: total - nodes.length, at: 1 },
    ];
    return { colors, over: has, legend: { kind: "classes", title: name, entries, hidden } };
  }

  /** The colours below and above, where some nodes are to stand out from the rest. */
  focused({ colors, over }, mask) {
    if (!mask) return { under: colors, over: over ?? null };
    const under = new Uint32Array(colors.length);
    const above = new Uint32Array(colors.length);
    for (let i = 0; i < colors.length; i++) {
      const color = over?.[i] || colors[i];
      if (!color) continue;
      if (mask[i]) above[i] = color;
      else under[i] = mixed(color, this.background, 0.82);
    }
    return { under, over: above };
  }
}
