// The legend: classes that can be switched off, or a bar of values.

import { css } from "./colors.js";
import { count, element, short } from "./dom.js";

/** Show a legend; `onhide` gets the entries that are to be hidden, `onlist` one whose nodes are to be listed. */
export function showLegend(root, legend, { onhide, onlist }) {
  if (!legend) return root.replaceChildren();
  const scrolled = root.scrollTop;
  root.replaceChildren(...(legend.kind === "classes" ? classes(legend, onhide, onlist) : values(legend)));
  root.scrollTop = scrolled;
}

function classes({ entries, hidden }, onhide, onlist) {
  const items = entries.map((entry) => {
    const box = element("input", {
      type: "checkbox",
      onchange: () => {
        const next = new Set(hidden);
        if (!next.delete(entry.at)) next.add(entry.at);
        onhide(next);
      },
    });
    box.checked = !hidden.has(entry.at);
    const isAlone = !hidden.has(entry.at) && hidden.size === entries.length - 1 && entries.length > 1;
    const others = entries.filter(({ at }) => at !== entry.at).map(({ at }) => at);
    return element(
      "li",
      {},
      element(
        "label",
        { title: entry.name },
        box,
        element("span", { class: "swatch", style: { background: css(entry.color) } }),
        element("span", { class: "name" }, entry.name),
        element("span", { class: "count" }, count(entry.count)),
      ),
      element(
        "span",
        { class: "more" },
        button(isAlone ? "all" : "only", isAlone ? "Show all" : `Show only ${entry.name}`, () =>
          onhide(new Set(isAlone ? [] : others)),
        ),
        button("list", `List ${entry.name}`, () => onlist(entry)),
      ),
    );
  });
  return [element("ul", {}, ...items)];
}

function button(text, label, onclick) {
  return element("button", { type: "button", onclick, "aria-label": label }, text);
}

function values({ low, high, beyond, missing, neutral, note, table }) {
  const stops = Array.from({ length: 9 }, (_, i) => css(table[Math.round((i * 255) / 8)])).join(", ");
  const ends = [`${beyond.low ? "≤ " : ""}${short(low)}`, `${beyond.high ? "≥ " : ""}${short(high)}`];
  const swatch = element("span", { class: "swatch", style: { background: css(neutral) } });
  return [
    element("div", { class: "bar", style: { background: `linear-gradient(to right, ${stops})` } }),
    element("div", { class: "ends" }, ...ends.map((text) => element("span", {}, text))),
    ...(missing ? [element("p", { class: "missing" }, swatch, `No value: ${count(missing)}`)] : []),
    ...(note ? [element("p", {}, note)] : []),
  ];
}
