// Elements from names and texts. Texts are always text: no name of a node or feature is ever read as HTML.

/** An element with attributes, properties (`class`, `onclick`, ...) and children, which are elements or texts. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name === "style") Object.assign(made.style, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** A choice of one among a few: radio buttons that look like one bar. */
export function segments(group, options, chosen, onchange) {
  return options.map(([value, text, title]) => {
    const input = element("input", {
      type: "radio",
      name: group,
      value,
      "aria-label": title,
      onchange: () => onchange(value),
    });
    input.checked = value === chosen;
    return element("label", { title }, input, element("span", {}, text));
  });
}

export function count(number) {
  return number.toLocaleString("en-US");
}

/** A number in three digits. */
export function short(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-3) return number.toExponential(1);
  if (size >= 1000) return count(Math.round(number));
  return number.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

/** Offer a text as a file to keep. */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Rows of a CSV file, cells quoted where they must be. */
export function csv(rows) {
  const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}
