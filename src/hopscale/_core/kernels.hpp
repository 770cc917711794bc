// The hot loops: one table of functions per instruction set. x, y, in and out have rows of `width` floats, a multiple
// of 16.
#pragma once
#include "structs.hpp"

namespace hopscale {

struct Kernels {
    const char *name;

    // out[v] = inverse_degrees[v] · Σ_u weight(v,u)·in[u].
    void (*propagate)(const Graph &graph, const float *in, float *out, int width);

    // Positive entries of log(block·scale), row by row: a panel of at most 256 columns (a multiple of 16). Returns
    // their number. columns and values need room for rows·width + 16 entries.
    int64_t (*compress)(const float *block, const float *scale, int width, int64_t rows, uint32_t *offsets,
                        uint8_t *columns, float *values);

    // y[begin:end] += Σ_j panel_j · x[j·panels.width:], panels in order.
    void (*panels_times)(const Panels &panels, const float *x, float *y, int width, int64_t begin, int64_t end);

    // w = panel_jᵀ · y.
    void (*panel_transposed_times)(const Panels &panels, int64_t j, const float *y, float *w, int width);

    // y[begin:end] = rows of the matrix times x.
    void (*csr_times)(const Csr &matrix, const float *x, float *y, int width, int64_t begin, int64_t end);

    RoundResult (*train)(const SkipGram &model, const Round &round);

    // total += own·count, row by row; rows of count 0 are not read.
    void (*accumulate)(const float *own, const uint32_t *count, int64_t rows, int width, float *total);
};

extern const Kernels kernels_baseline;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;

}  // namespace hopscale
