// What the kernels work on: plain data, one definition for the Python module and for every instruction set. The module
// checks each struct when it is made and keeps the arrays alive (structs.cpp), so the kernels check nothing.
#pragma once
#include <cstdint>

namespace hopscale {

constexpr int MAX_WIDTH = 1024;  // floats of a row that a kernel keeps at hand
constexpr int MAX_BATCH = 64;

// An undirected graph. The neighbours of node v are neighbors[offsets[v]..offsets[v+1]]; each of them has an edge.
struct Graph {
    std::int64_t n_nodes;
    const std::int64_t *offsets;
    const std::int32_t *neighbors;
    const float *inverse_degrees;
    const float *weights;  // of the edges; null where all weigh the same
    const float *keep;     // alias table of each node's edges; null where all weigh the same
    const std::int32_t *other;
    float back, away;  // node2vec's 1/p and 1/q; where they are not 1 and 1, lists of neighbours are sorted
};

// A sparse matrix by rows.
struct Csr {
    std::int64_t n_rows, n_columns;
    const std::int64_t *offsets;
    const std::int32_t *columns;
    const float *values;
    bool positive;  // all values are; what features must be
};

// A distribution over features. In order of falling probability they share out the numbers 0..2³²-1: the feature at
// position i has those up to last[i]. A guide names the first position to look at, by a number's leading bits.
struct Noise {
    std::int64_t count;
    const std::uint32_t *last;
    const std::uint32_t *feature;
    const std::uint32_t *guide;
    int shift;
};

// A block of consecutive columns of a sparse matrix, by rows.
struct Panel {
    const std::uint32_t *offsets;
    const std::uint8_t *columns;
    const float *values;
};

// A matrix as panels of `width` columns each.
struct Panels {
    const Panel *panels;
    std::int64_t count, n_rows;
    int width;
};

// Skip-gram with negative sampling: what stays the same from round to round.
struct SkipGram {
    Graph graph;
    Csr features;
    const float *counts;  // expected number of times an entry of features is seen at a visit; null: once each
    const float *keep;    // probability of keeping a feature (sub-sampling); null: always
    Noise noise;
    std::uint32_t hops;  // bit r: step r of a walk counts
    int negatives;
    int batch;   // positives that share one draw of negatives
    int shared;  // negatives drawn for a full batch
    std::uint64_t seed, scale;
};

// One round of training on some nodes; vectors are rows of `width` floats.
struct Round {
    float *node_vectors;
    const float *feature_vectors;  // as they are before
    float *own;                    // as this round leaves them, of any content at first; null: features are frozen
    std::uint32_t *touches;        // updates of each feature, 0 at first; rows of `own` that have none mean nothing
    int width;
    const std::int32_t *nodes;  // nodes[i] is visited visits[i] times; a walk needs an edge to start on
    const std::int64_t *visits;
    std::int64_t n_nodes;
    float learning_rate;
    std::uint64_t number;
    const volatile std::uint8_t *stop;
};

struct RoundResult {
    std::int64_t pairs;
    std::int64_t not_finite;  // a node whose vector is no longer finite, or -1
};

}  // namespace hopscale
