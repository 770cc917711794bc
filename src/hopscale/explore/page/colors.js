// Colours as 32-bit numbers in the order in which canvases of little-endian machines keep them: ABGR.

/** A colour such as "#0072b2", packed. */
export function packed(hex) {
  const rgb = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

/** A packed colour, as CSS writes it. */
export function css(color) {
  return `rgb(${color & 0xff},${(color >> 8) & 0xff},${(color >> 16) & 0xff})`;
}

/** The colour at a share of the way from one to another. */
export function mixed(one, other, share) {
  let result = 0xff000000;
  for (const shift of [0, 8, 16]) {
    const a = (one >> shift) & 0xff;
    const b = (other >> shift) & 0xff;
    result |= Math.round(a + (b - a) * share) << shift;
  }
  return result >>> 0;
}

/** A table of 256 packed colours through some stops, as hex texts. */
export function gradient(stops) {
  const colors = stops.map(packed);
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (colors.length - 1);
    const before = Math.min(Math.floor(at), colors.length - 2);
    table[i] = mixed(colors[before], colors[before + 1], at - before);
  }
  return table;
}

/** The values at some shares of the order of an array, of a sample if it is long; NaN are left out. */
export function quantiles(values, shares) {
  const step = Math.max(1, Math.floor(values.length / 20000));
  const sample = [];
  for (let i = 0; i < values.length; i += step) if (!Number.isNaN(values[i])) sample.push(values[i]);
  sample.sort((a, b) => a - b);
  return shares.map((share) => (sample.length ? sample[Math.round(share * (sample.length - 1))] : 0));
}
