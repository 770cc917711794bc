// The hot loops: one table of functions per instruction set. x, y, in and out have rows of `width` floats, a multiple
// of 16.
#pragma once
#include "structs.hpp"

namespace hopscale {

struct Kernels {
    const char *name;

    // out[v] = inverse_degrees[v] · Σ_u weight(v,u)·in[u].
    void (*propagate)(const Graph &graph, const float *in, float *out, int width);

    // For rows begin..end: one hop of a block of columns and what it adds to the products of a scale; what a sparse
    // block, each of whose columns is in a row at most once, adds as it is; and such a block as a dense one, in `out`.
    void (*one_hop)(const Hop &hop, int64_t begin, int64_t end);
    void (*no_hop)(const Hop &hop, int64_t begin, int64_t end);
    void (*fill)(const Hop &hop, int64_t begin, int64_t end);

    // Positive entries of log(block·scale), row by row: a panel of at most 256 columns (a multiple of 16). Returns
    // their number. columns and values need room for rows·width + 16 entries.
    int64_t (*compress)(const float *block, const float *scale, int width, int64_t rows, uint32_t *offsets,
                        uint8_t *columns, float *values);

    // y[begin:end] += Σ_j panel_j · x[j·panels.width:], panels in order.
    void (*panels_times)(const Panels &panels, const float *x, float *y, int width, int64_t begin, int64_t end);

    // Columns of those sums that are above one once they are scaled, and the ratios; returns their number. The sums are
    // set to zero. columns and ratios need room for count + 16 entries.
    int64_t (*above_one)(double *sums, const float *scale, int64_t count, int32_t *columns, float *ratios);

    // Logarithms of positive, normal numbers, in place.
    void (*logs)(float *values, int64_t count);

    // w += panel_jᵀ · y.
    void (*panel_transposed_times)(const Panels &panels, int64_t j, const float *y, float *w, int width);

    // y[begin:end] = rows of the matrix times x.
    void (*csr_times)(const Csr &matrix, const float *x, float *y, int width, int64_t begin, int64_t end);

    // y = rows·x, columns of each row in order, for a few rows that are long: they share what they read of x.
    void (*rows_times)(const Csr &rows, const float *x, float *y, int width);

    RoundResult (*train)(const SkipGram &model, const Round &round);

    // Rows begin..end of the mean of several copies, each row weighted by its number of updates. Sums of rows and
    // updates start anew with `first`, and become means where there is a `before`: the rows of what was not updated.
    void (*average)(const Copy *copies, int64_t count, bool first, const float *before, float *total, int64_t *updates,
                    int width, int64_t begin, int64_t end);
};

extern const Kernels kernels_baseline;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;

}  // namespace hopscale
