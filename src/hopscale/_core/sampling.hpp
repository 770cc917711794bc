// What is drawn but not hot enough to be compiled per instruction set.
#pragma once
#include <cstdint>
#include <vector>

namespace hopscale {

struct WalkSource {
    const std::int64_t *edge_offsets;
    const std::int32_t *neighbors;
    const float *edge_keep;
    const std::int32_t *edge_other;
    float back, away;
    const std::int64_t *feature_offsets;
    const std::int32_t *feature_columns;
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
void sample_walks(const WalkSource &source, const std::int32_t *starts, std::int64_t n_starts, int count, int steps,
                  std::uint64_t seed, std::int32_t *out);

// Positive entries of log(scale_f · mean over walks of F[u, f]) for each node, u at the steps in `hops`.
SparseRows sample_rows(const WalkSource &source, const float *feature_values, std::int64_t n_features,
                       const std::int32_t *nodes, std::int64_t n_nodes, int walks, std::uint32_t hops,
                       const float *scale, std::uint64_t seed, std::uint64_t stream,
                       const volatile std::uint8_t *stop);

}  // namespace hopscale
