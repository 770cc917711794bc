// What is drawn but not hot enough to be compiled per instruction set.
#pragma once
#include <vector>

#include "structs.hpp"

namespace hopscale {

// What to sample rows from: `walks` walks of each node, at the steps in `hops` (bit r: step r, from 1 on). A mean over
// walks is multiplied by the feature's scale.
struct RowTask {
    const std::int32_t *nodes;
    std::int64_t n_nodes;
    std::int64_t walks;
    std::uint32_t hops;
    const float *scale;
    std::uint64_t seed, stream;
    const volatile std::uint8_t *stop;
};

struct SparseRows {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    std::vector<float> values;
};

// Alias tables (Vose) of consecutive groups of weights: offsets[g]..offsets[g+1] is one distribution.
void build_alias(const std::int64_t *offsets, std::int64_t groups, const double *weights, float *keep,
                 std::int32_t *other);

// The node reached after each of `steps` steps, for `count` walks from every start; -1 from an isolated node.
void sample_walks(const Graph &graph, const std::int32_t *starts, std::int64_t n_starts, std::int64_t count,
                  std::int64_t steps, std::uint64_t seed, std::int32_t *out);

// Positive entries of log(scale_f · mean over walks of F[u, f]) for each node, u at the steps in `hops`. Values of F
// are positive. Told to stop, it returns the rows that are complete. The features are a copy, which no store can
// change: their pointers stay in registers.
SparseRows sample_rows(const Graph &graph, Csr features, const RowTask &task);

}  // namespace hopscale
