// What the page holds: facts as JSON, and arrays as base64 text in elements of their own, decoded when they are needed.

const ARRAYS = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  int32: Int32Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float32: Float32Array,
};

/** The facts about the model and its arrays. */
export function readFacts() {
  return JSON.parse(document.getElementById("facts").textContent);
}

/** Arrays by name; each is decoded once, and its text then removed from the page. */
export class Blocks {
  constructor(described) {
    this.described = described;
    this.loaded = new Map();
  }

  has(name) {
    return name in this.described;
  }

  /** A promise of a typed array, or of what a block of JSON says. */
  get(name) {
    if (!this.loaded.has(name)) this.loaded.set(name, this.decode(name));
    return this.loaded.get(name);
  }

  async decode(name) {
    const { type, packed } = this.described[name];
    const element = document.getElementById(`block-${name}`);
    let bytes = fromBase64(element.textContent.trim());
    element.remove();
    if (packed) bytes = await inflated(bytes);
    if (type === "json") return JSON.parse(new TextDecoder().decode(bytes));
    return new ARRAYS[type](bytes.buffer, bytes.byteOffset, bytes.byteLength / ARRAYS[type].BYTES_PER_ELEMENT);
  }

  /** Names of nodes or features: a list of texts, or whole numbers that are turned into text one by one. */
  async names(name) {
    const list = await this.get(name);
    if (this.described[name].type === "json") return { length: list.length, at: (i) => list[i] };
    const start = this.described[name].start; // numbers are stored as differences from the one before
    const numbers = new Float64Array(list.length);
    for (let i = 0, last = start; i < list.length; i++) numbers[i] = last += list[i];
    return { length: numbers.length, at: (i) => String(numbers[i]) };
  }
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Single-precision numbers of which the file keeps the upper half of the bits. */
export function fromUpperHalves(halves) {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < bits.length; i++) bits[i] = halves[i] << 16;
  return new Float32Array(bits.buffer);
}

/** Which nodes have which features, by feature and by node. */
export class Membership {
  /** `counts` is how many nodes have each feature; `steps` the differences between the nodes of a feature. */
  constructor(counts, steps, nNodes) {
    this.starts = new Uint32Array(counts.length + 1);
    this.nodes = new Uint32Array(steps.length);
    const perNode = new Uint32Array(nNodes + 1);
    for (let feature = 0, at = 0; feature < counts.length; feature++) {
      for (let node = -1, end = at + counts[feature]; at < end; at++) {
        node += steps[at];
        this.nodes[at] = node;
        perNode[node + 1]++;
      }
      this.starts[feature + 1] = at;
    }
    for (let node = 0; node < nNodes; node++) perNode[node + 1] += perNode[node];
    this.nodeStarts = perNode;
    this.features = new Uint32Array(steps.length);
    const next = perNode.slice();
    for (let feature = 0; feature < counts.length; feature++) {
      for (let at = this.starts[feature]; at < this.starts[feature + 1]; at++) {
        this.features[next[this.nodes[at]]++] = feature;
      }
    }
  }

  nodesOf(feature) {
    return this.nodes.subarray(this.starts[feature], this.starts[feature + 1]);
  }

  featuresOf(node) {
    return this.features.subarray(this.nodeStarts[node], this.nodeStarts[node + 1]);
  }
}
