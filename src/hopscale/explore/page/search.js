// Search by name: names that begin with the text first, then those that hold it anywhere.

import { count, element } from "./dom.js";

const SHOWN = 60; // hits in the list

/** Names in lower case, made when they are first searched. */
export class NameIndex {
  constructor(kind, names, total = names.length) {
    Object.assign(this, { kind, names, total });
  }

  get lower() {
    this.made ??= Array.from({ length: this.total }, (_, i) => this.names.at(i).toLowerCase());
    return this.made;
  }

  /** Numbers of all names that hold a text: equal ones first, then those that begin with it. */
  find(text) {
    const sought = text.toLowerCase();
    const groups = [[], [], []];
    this.lower.forEach((name, i) => {
      const at = name.indexOf(sought);
      if (at >= 0) groups[at > 0 ? 2 : name.length === sought.length ? 0 : 1].push(i);
    });
    return groups.flat();
  }
}

/** A box to type in, with a list of hits below it. */
export class SearchBox {
  constructor(root, indexes, { onpick, onhits = () => {} }) {
    this.input = root.querySelector("input");
    this.list = root.querySelector(".hits");
    Object.assign(this, { indexes, onpick, onhits, hits: [], active: -1 });
    this.input.addEventListener("input", () => this.update());
    this.input.addEventListener("focus", () => this.input.value && this.update());
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  update() {
    const text = this.input.value.trim();
    const found = text ? this.indexes.map((index) => ({ index, rows: index.find(text) })) : [];
    this.total = found.reduce((sum, { rows }) => sum + rows.length, 0);
    // Each kind has its share of the list, and what others leave.
    const share = Math.ceil(SHOWN / Math.max(found.length, 1));
    this.hits = found.flatMap(({ index, rows }) => {
      const others = found.reduce(
        (sum, other) => sum + (other.index === index ? 0 : Math.min(other.rows.length, share)),
        0,
      );
      return rows.slice(0, Math.max(share, SHOWN - others)).map((row) => ({ index, row }));
    });
    this.active = this.hits.length ? 0 : -1;
    this.show(text);
    this.onhits(text ? found : null, text);
  }

  show(text) {
    const options = this.hits.map(({ index, row }, at) =>
      element(
        "div",
        {
          class: "hit",
          role: "option",
          id: `${this.list.id}-${at}`,
          onpointerdown: (event) => this.pressed(event, at),
        },
        element("span", { class: "name" }, ...marked(index.names.at(row), text)),
        this.indexes.length > 1 ? element("span", { class: "kind" }, index.kind) : null,
      ),
    );
    const more = this.total - this.hits.length;
    const words = this.total ? (more > 0 ? `and ${count(more)} more` : null) : `Nothing is called “${text}”.`;
    this.list.replaceChildren(...options, ...(words ? [element("p", {}, words)] : []));
    this.list.hidden = !text;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.activate(this.active);
  }

  pressed(event, at) {
    event.preventDefault(); // the box keeps the focus
    this.pick(at);
  }

  activate(at) {
    this.active = at;
    [...this.list.querySelectorAll(".hit")].forEach((option, i) => {
      option.setAttribute("aria-selected", String(i === at));
      if (i === at) option.scrollIntoView({ block: "nearest" });
    });
    if (at >= 0) this.input.setAttribute("aria-activedescendant", `${this.list.id}-${at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const { hits } = this;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (hits.length) this.activate((this.active + (event.key === "ArrowDown" ? 1 : hits.length - 1)) % hits.length);
    } else if (event.key === "Enter") {
      if (this.active >= 0 && !this.list.hidden) this.pick(this.active);
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.update();
      this.input.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  pick(at) {
    const { index, row } = this.hits[at];
    this.close();
    this.onpick(index.kind, row);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }

  clear() {
    this.input.value = "";
    this.hits = [];
    this.close();
  }
}

/** A name with the text that was sought marked. */
function marked(name, text) {
  const at = name.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return [name];
  const end = at + text.length;
  return [name.slice(0, at), element("mark", {}, name.slice(at, end)), name.slice(end)];
}
