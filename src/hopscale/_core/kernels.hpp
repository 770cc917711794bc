// The hot loops: flat arrays in, flat arrays out. One table of functions per instruction set.
#pragma once
#include <cstdint>

namespace hopscale {

struct SkipGram {
    // graph and features
    const std::int64_t *edge_offsets;
    const std::int32_t *neighbors;
    const float *edge_keep;
    const std::int32_t *edge_other;
    float back, away;
    const std::int64_t *feature_offsets;
    const std::int32_t *feature_columns;
    const float *feature_counts;
    const float *feature_keep;
    // noise distribution over features: see Noise in walks.hpp
    const std::uint32_t *noise_last;
    const std::uint32_t *noise_feature;
    const std::uint32_t *noise_guide;
    int noise_shift;
    // parameters, rows of `width` floats
    float *node_table;
    const float *features;      // as they are before
    float *own;                 // as this task leaves them, of any content at first; null: features are frozen
    std::uint32_t *touches;     // updates of each feature, 0 at first; rows of `own` that have none mean nothing
    int width;
    // what to train: nodes[i] is visited visits[i] times; of a walk the steps in hops count (bit r: step r)
    const std::int32_t *nodes;
    const std::int64_t *visits;
    std::int64_t n_nodes;
    std::uint32_t hops;
    // how
    float learning_rate;
    int negatives;
    int batch;                  // positives that share one draw of negatives
    int shared;                 // negatives drawn for a full batch
    std::uint64_t seed, scale, round;
    const volatile std::uint8_t *stop;
};

struct SkipGramResult {
    std::int64_t pairs;
    std::int64_t not_finite;    // a node whose vector is no longer finite, or -1
};

struct Kernels {
    const char *name;

    // out[i] = Σ_u weight(i,u)·in[u] · scale[i] on blocks of `width` columns (a multiple of 16).
    void (*propagate)(const std::int64_t *offsets, const std::int32_t *neighbors, const float *weights,
                      const float *scale, const float *in, float *out, int width, std::int64_t begin,
                      std::int64_t end);

    // Positive entries of log(block·scale), row by row: a panel of at most 256 columns (a multiple of 16). Returns
    // their number. columns and values need room for rows·width + 16 entries.
    std::int64_t (*compress)(const float *block, const float *scale, int width, std::int64_t rows,
                             std::uint32_t *offsets, std::uint8_t *columns, float *values);

    // y[begin:end] += Σ_j panel_j · x[first_j:], panels in order; x, y have rows of `width` floats.
    void (*panels_times)(const std::uint64_t *panels, std::int64_t n_panels, int panel_width, const float *x,
                         float *y, int width, std::int64_t begin, std::int64_t end);

    // w = panelᵀ · y for one panel.
    void (*panel_transposed_times)(const std::uint32_t *offsets, const std::uint8_t *columns, const float *values,
                                   std::int64_t rows, const float *y, float *w, int panel_width, int width);

    // y[begin:end] = rows of a CSR matrix times x.
    void (*csr_times)(const std::int64_t *offsets, const std::int32_t *columns, const float *values, const float *x,
                      float *y, int width, std::int64_t begin, std::int64_t end);

    SkipGramResult (*train)(const SkipGram &task);

    // total += own·count, row by row; rows of count 0 are not read.
    void (*accumulate)(const float *own, const std::uint32_t *count, std::int64_t rows, int width, float *total);
};

extern const Kernels kernels_baseline;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;

constexpr int MAX_WIDTH = 1024;  // floats of a row that a kernel keeps at hand
constexpr int MAX_BATCH = 64;

}  // namespace hopscale
