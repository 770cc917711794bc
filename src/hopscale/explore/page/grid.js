// Points in square cells: what is near a pixel, within a lasso or on the screen is found without looking at all.

const LOW = -32768; // positions are 16-bit numbers; this one says that a point has none

/** An index of points (x, y), two halves of one array of 16-bit numbers. */
export class Grid {
  constructor(positions) {
    const n = (this.size = positions.length / 2);
    this.x = positions.subarray(0, n);
    this.y = positions.subarray(n);
    this.side = Math.min(Math.max(Math.round(Math.sqrt(n / 8)), 1), 1024);
    this.cell = 65536 / this.side;
    this.fill(shuffled(n));
  }

  column(x) {
    return Math.min(Math.max(Math.floor((x - LOW) / this.cell), 0), this.side - 1);
  }

  /** Sort points by cell, at random within a cell: every k-th of them is then a fair sample. */
  fill(order) {
    const cells = new Uint32Array(this.size);
    const starts = new Uint32Array(this.side * this.side + 1);
    let count = 0;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < this.size; i++) {
      if (this.x[i] === LOW) continue;
      cells[i] = this.column(this.y[i]) * this.side + this.column(this.x[i]);
      starts[cells[i] + 1]++;
      count++;
      box[0] = Math.min(box[0], this.x[i]);
      box[1] = Math.min(box[1], this.y[i]);
      box[2] = Math.max(box[2], this.x[i]);
      box[3] = Math.max(box[3], this.y[i]);
    }
    for (let cell = 0; cell < this.side * this.side; cell++) starts[cell + 1] += starts[cell];
    const next = starts.slice();
    this.items = new Uint32Array(count);
    for (const i of order) if (this.x[i] !== LOW) this.items[next[cells[i]]++] = i;
    this.starts = starts;
    this.box = count ? box : [-1, -1, 1, 1];
    // Positions in the order of the cells: drawing reads memory from front to back.
    this.sortedX = Float32Array.from(this.items, (i) => this.x[i]);
    this.sortedY = Float32Array.from(this.items, (i) => this.y[i]);
  }

  isPlaced(i) {
    return this.x[i] !== LOW;
  }

  /** Call back with ranges of `items` that cover a box of the map, a range for each row of cells. */
  rows([x0, y0, x1, y1], callback) {
    const first = this.column(x0);
    const last = this.column(x1);
    for (let row = this.column(y0), end = this.column(y1); row <= end; row++) {
      const begin = this.starts[row * this.side + first];
      const stop = this.starts[row * this.side + last + 1];
      if (begin < stop) callback(begin, stop);
    }
  }

  /** How many points the cells of a box hold. */
  count(box) {
    let total = 0;
    this.rows(box, (begin, end) => (total += end - begin));
    return total;
  }

  /** The point nearest to a place of the map within a radius, or -1; `accepts` says which points count. */
  nearest(x, y, radius, accepts) {
    let best = -1;
    let least = radius * radius;
    this.rows([x - radius, y - radius, x + radius, y + radius], (begin, end) => {
      for (let at = begin; at < end; at++) {
        const distance = (this.sortedX[at] - x) ** 2 + (this.sortedY[at] - y) ** 2;
        if (distance <= least && accepts(this.items[at])) {
          least = distance;
          best = this.items[at];
        }
      }
    });
    return best;
  }

  /** Points within a polygon, a list of [x, y] of the map, in their own order. */
  within(polygon, accepts) {
    const xs = polygon.map(([x]) => x);
    const ys = polygon.map(([, y]) => y);
    const found = [];
    this.rows([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)], (begin, end) => {
      for (let at = begin; at < end; at++) {
        if (accepts(this.items[at]) && isInside(this.sortedX[at], this.sortedY[at], xs, ys)) found.push(this.items[at]);
      }
    });
    return Uint32Array.from(found).sort();
  }
}

/** Whether a ray from the point crosses the polygon an odd number of times. */
function isInside(x, y, xs, ys) {
  let inside = false;
  for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
    if (ys[i] > y !== ys[j] > y && x < ((xs[j] - xs[i]) * (y - ys[i])) / (ys[j] - ys[i]) + xs[i]) inside = !inside;
  }
  return inside;
}

/** The numbers below n in an order that looks random and is always the same. */
function shuffled(n) {
  const order = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  for (let i = n - 1, state = 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    const kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  return order;
}
