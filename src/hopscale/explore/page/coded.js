// Vectors in a few bytes each: a byte names one of 256 centres, for each of some groups of columns.

import { Vectors } from "./vectors.js";

const CENTRES = 256;

export class CodedVectors extends Vectors {
  constructor(codes, halves, scales, centres) {
    super(codes, halves, scales);
    this.length = halves.length / scales.length;
    this.perRow = codes.length / this.length;
    this.parts = this.perRow / scales.length;
    this.groups = scales.map((scale) => this.split(scale));
    let at = 0;
    for (const group of this.groups.flat()) {
      group.centres = centres.subarray(at, at + CENTRES * group.width);
      at += CENTRES * group.width;
    }
  }

  /** Groups of columns of a scale: as even as possible, the wider ones first. */
  split({ begin, width }) {
    const wider = width % this.parts;
    return Array.from({ length: this.parts }, (_, part) => {
      const own = Math.floor(width / this.parts) + (part < wider ? 1 : 0);
      const start = begin + part * Math.floor(width / this.parts) + Math.min(part, wider);
      return { begin: start, width: own };
    });
  }

  row(i) {
    const found = new Float32Array(this.width);
    this.groups.forEach((groups, s) => {
      const factor = this.factors[i * this.scales.length + s];
      groups.forEach(({ begin, width, centres }, part) => {
        const code = this.bytes[i * this.perRow + s * this.parts + part];
        for (let j = 0; j < width; j++) found[begin + j] = centres[code * width + j] * factor;
      });
    });
    return found;
  }

  products(vector, s) {
    const found = this.summed(s, ({ begin, width, centres }, code) => {
      let sum = 0;
      for (let j = 0; j < width; j++) sum += centres[code * width + j] * vector[begin + j];
      return sum;
    });
    for (let i = 0; i < found.length; i++) found[i] *= this.factors[i * this.scales.length + s];
    return found;
  }

  squares(s) {
    if (!this.lengths.has(s)) {
      const found = this.summed(s, ({ width, centres }, code) => {
        let sum = 0;
        for (let j = 0; j < width; j++) sum += centres[code * width + j] ** 2;
        return sum;
      });
      for (let i = 0; i < found.length; i++) found[i] *= this.factors[i * this.scales.length + s] ** 2;
      this.lengths.set(s, found);
    }
    return this.lengths.get(s);
  }

  /** For each row, the sum over the groups of a scale of what a function says of its centres. */
  summed(s, value) {
    const tables = this.groups[s].map((group) =>
      Float32Array.from({ length: CENTRES }, (_, code) => value(group, code)),
    );
    const found = new Float32Array(this.length);
    for (let i = 0, at = s * this.parts; i < this.length; i++, at += this.perRow) {
      let sum = 0;
      for (let part = 0; part < this.parts; part++) sum += tables[part][this.bytes[at + part]];
      found[i] = sum;
    }
    return found;
  }
}
