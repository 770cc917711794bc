// What is shown, in the address of the page after the #, so that it can be shared and comes back after a reload.

/** The state as text. Names stand for nodes and features: their numbers may differ in another file. */
export function written(state, app) {
  const words = new URLSearchParams();
  const { map, color, feature, hidden, selected, theme, showFeatures } = state;
  if (map) words.set("scale", app.facts.maps[map].label);
  if (color !== app.defaultColor) words.set("color", color);
  if (feature !== null) words.set("feature", app.features.at(feature));
  if (hidden.size) words.set("hide", [...hidden].join("."));
  if (selected) words.set(selected.kind === "node" ? "node" : "about", app.namesOf(selected.kind).at(selected.index));
  if (!showFeatures) words.set("features", "off");
  if (theme) words.set("theme", theme);
  const { x, y, zoom } = app.camera;
  if (!app.isHome) words.set("view", [Math.round(x), Math.round(y), zoom.toPrecision(4)].join("_"));
  return words.toString();
}

/** The state that a text describes; what it does not say, or says wrongly, is left out. */
export function read(text, app) {
  const words = new URLSearchParams(text);
  const state = {};
  const map = app.facts.maps.findIndex(({ label }) => label === words.get("scale"));
  state.map = Math.max(map, 0);
  const color = words.get("color");
  state.color = app.colorIds.includes(color) ? color : app.defaultColor;
  state.feature = found(app.features, words.get("feature"));
  if (state.feature === null && ["has", "product"].includes(state.color)) state.color = app.defaultColor;
  state.hidden = new Set((words.get("hide") ?? "").split(".").filter(Boolean).map(Number));
  for (const [word, kind] of [
    ["node", "node"],
    ["about", "feature"],
  ]) {
    const index = found(app.namesOf(kind), words.get(word));
    if (index !== null) state.selected = { kind, index };
  }
  state.showFeatures = words.get("features") !== "off";
  state.theme = ["dark", "light"].includes(words.get("theme")) ? words.get("theme") : null;
  const view = (words.get("view") ?? "").split("_").map(Number);
  if (view.length === 3 && view.every(Number.isFinite) && view[2] > 0) state.view = view;
  return state;
}

function found(names, name) {
  if (name === null) return null;
  for (let i = 0; i < names.length; i++) if (names.at(i) === name) return i;
  return null;
}
