// Vectors of nodes and features in bytes: cosines and products as the model's own questions have them.
//
// A number of scale s in row i is bytes[i, j] · factors[i, s]. Products of node and feature vectors estimate pointwise
// mutual information, raised to the scale's `power`.

import { fromUpperHalves } from "./data.js";

export class Vectors {
  constructor(bytes, halves, scales) {
    this.bytes = bytes;
    this.factors = fromUpperHalves(halves);
    this.scales = scales;
    this.width = scales.reduce((sum, scale) => sum + scale.width, 0);
    this.length = this.width ? bytes.length / this.width : 0;
    this.lengths = new Map();
  }

  /** The scales that a choice means: one, or all for -1. */
  chosen(scale) {
    return scale < 0 ? this.scales.map((_, s) => s) : [scale];
  }

  isKnown(row, scale) {
    return this.chosen(scale).some((s) => this.factors[row * this.scales.length + s] > 0);
  }

  /** One vector as numbers. */
  row(i) {
    const found = new Float32Array(this.width);
    this.scales.forEach(({ begin, width }, s) => {
      const factor = this.factors[i * this.scales.length + s];
      for (let j = begin; j < begin + width; j++) found[j] = this.bytes[i * this.width + j] * factor;
    });
    return found;
  }

  /** The mean of some vectors. */
  mean(rows) {
    const sum = new Float32Array(this.width);
    for (const i of rows) {
      const vector = this.row(i);
      for (let j = 0; j < sum.length; j++) sum[j] += vector[j] / rows.length;
    }
    return sum;
  }

  /** Products of a vector with all rows at one scale. */
  products(vector, s) {
    const { begin, width } = this.scales[s];
    const found = new Float32Array(this.length);
    for (let i = 0, at = begin; i < this.length; i++, at += this.width) {
      let sum = 0;
      for (let j = 0; j < width; j++) sum += this.bytes[at + j] * vector[begin + j];
      found[i] = sum * this.factors[i * this.scales.length + s];
    }
    return found;
  }

  /** Squared lengths of all rows at one scale, computed once. */
  squares(s) {
    if (!this.lengths.has(s)) {
      const { begin, width } = this.scales[s];
      const found = new Float32Array(this.length);
      for (let i = 0, at = begin; i < this.length; i++, at += this.width) {
        let sum = 0;
        for (let j = 0; j < width; j++) sum += this.bytes[at + j] ** 2;
        found[i] = sum * this.factors[i * this.scales.length + s] ** 2;
      }
      this.lengths.set(s, found);
    }
    return this.lengths.get(s);
  }

  /** Cosines of a vector with all rows, at one scale or of all dimensions; 0 where a vector is zero. */
  cosines(vector, scale) {
    const found = new Float32Array(this.length);
    const squares = new Float32Array(this.length);
    let own = 0;
    for (const s of this.chosen(scale)) {
      const products = this.products(vector, s);
      const lengths = this.squares(s);
      for (let i = 0; i < found.length; i++) {
        found[i] += products[i];
        squares[i] += lengths[i];
      }
      const { begin, width } = this.scales[s];
      for (let j = begin; j < begin + width; j++) own += vector[j] ** 2;
    }
    for (let i = 0; i < found.length; i++) found[i] = squares[i] && own ? found[i] / Math.sqrt(squares[i] * own) : 0;
    return found;
  }

  /** Estimates of pointwise mutual information with all rows: at one scale, or the mean over the scales. */
  estimates(vector, scale) {
    const chosen = this.chosen(scale);
    const found = new Float32Array(this.length);
    for (const s of chosen) {
      const products = this.products(vector, s);
      const exponent = 1 / this.scales[s].power;
      for (let i = 0; i < found.length; i++) {
        const score = exponent === 1 ? products[i] : Math.sign(products[i]) * Math.abs(products[i]) ** exponent;
        found[i] += score / chosen.length;
      }
    }
    return found;
  }
}

/** Rows with the k largest scores, largest first, as pairs [row, score]; `accepts` says which rows count. */
export function leading(scores, k, accepts = () => true) {
  const best = []; // sorted, smallest first
  for (let i = 0; i < scores.length; i++) {
    if ((best.length === k && scores[i] <= best[0][1]) || !accepts(i)) continue;
    let at = best.length === k ? 1 : 0;
    while (at < best.length && best[at][1] < scores[i]) at++;
    best.splice(at, 0, [i, scores[i]]);
    if (best.length > k) best.shift();
  }
  return best.reverse();
}
