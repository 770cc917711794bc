// What the kernels work on: plain data, one definition for the Python module and for every instruction set. The module
// checks each struct when it is made and keeps the arrays alive (structs.cpp), so the kernels check nothing.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hopscale {

using std::int32_t, std::int64_t, std::size_t, std::uint32_t, std::uint64_t, std::uint8_t;

constexpr int MAX_WIDTH = 1024;  // floats of a row that a kernel keeps at hand
constexpr int MAX_BATCH = 64;

// An undirected graph. The neighbours of node v are neighbors[offsets[v]..offsets[v+1]]; each of them has an edge.
struct Graph {
    int64_t n_nodes;
    const int64_t *offsets;
    const int32_t *neighbors;
    const float *inverse_degrees;
    const float *weights;  // of the edges; null where all weigh the same
    // Rows of weights have units of their own, so that no product leaves float's range: an edge of v weighs
    // weights[e]·2^exponents[v], and inverse_degrees[v] is that of the weights as they are here. Null: all 0.
    const int32_t *exponents;
    const float *keep;  // alias table of each node's edges; null where all weigh the same
    const int32_t *other;
    float back, away;  // node2vec's 1/p and 1/q; where they are not 1 and 1, lists of neighbours are sorted
};

// A sparse matrix by rows.
struct Csr {
    int64_t n_rows, n_columns;
    const int64_t *offsets;
    const int32_t *columns;
    const float *values;
    bool positive;  // all values are; what features must be
};

// A distribution over features. In order of falling probability they share out the numbers 0..2³²-1: the feature at
// position i has those up to last[i]. A guide names the first position to look at, by a number's leading bits.
struct Noise {
    int64_t count;
    const uint32_t *last, *feature, *guide;
    int shift;
};

// A block of consecutive columns of a sparse matrix, by rows.
struct Panel {
    const uint32_t *offsets;
    const uint8_t *columns;
    const float *values;
};

// A matrix as panels of `width` columns each.
struct Panels {
    const Panel *panels;
    int64_t count, n_rows;
    int width;
};

// One hop of a block of columns: P·block. The block is sparse, its columns in order, or dense numbers of half
// precision. `width` columns, a multiple of 16 and at most 256, are computed. Dense blocks are in parts of `stride`
// columns, each by rows, `apart` numbers after one another: column c of row v is at (c / stride)·apart + v·stride + c %
// stride.
struct Hop {
    Graph graph;
    int width, stride;
    int64_t apart;
    const std::uint16_t *dense;  // null: it is sparse
    Panel sparse;
    std::uint16_t *out;  // the next block, a dense one; null: not needed
    // Sums over hops: this one is added, and what is there, or the sparse block itself. Null: this hop counts alone.
    std::uint16_t *pooled;
    // What a scale makes of its block: y += (positive logarithms of block·scale, to a power)·x. Rows of x and y have
    // `columns` floats. Null where no scale ends with this hop.
    const float *scale, *x;
    float *y;
    int columns;
    float power;
};

// Skip-gram with negative sampling: what stays the same from round to round.
struct SkipGram {
    Graph graph;
    Csr features;
    const float *counts;  // expected number of times an entry of features is seen at a visit; null: once each
    const float *keep;    // probability of keeping a feature (sub-sampling); null: always
    Noise noise;
    uint32_t hops;  // bit r: step r of a walk counts
    int negatives;
    int batch;   // positives that share one draw of negatives
    int shared;  // negatives drawn for a full batch
    uint64_t seed, scale;
};

// One round of training on some nodes; vectors are rows of `width` floats.
struct Round {
    float *node_vectors;           // row i is that of nodes[i]
    const float *feature_vectors;  // as they are before
    float *own;                    // as this round leaves them, of any content at first; null: features are frozen
    uint32_t *touches;             // updates of each feature, 0 at first; rows of `own` that have none mean nothing
    int width;
    const int32_t *nodes;  // nodes[i] is visited visits[i] times; a walk needs an edge to start on
    const int64_t *visits;
    int64_t n_nodes;
    float learning_rate;
    uint64_t number;
    const volatile uint8_t *stop;
};

// Feature vectors as a round leaves them.
struct Copy {
    const float *own;
    const uint32_t *touches;
};

struct RoundResult {
    int64_t pairs;
    int64_t not_finite;  // a node whose vector is no longer finite, or -1
};

}  // namespace hopscale
