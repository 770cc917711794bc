// One hop from sparse columns.
#pragma once
#include <cstdint>

namespace hopscale {

// out[v, c] = scale[v]·Σ_u weight(u,v)·F[u, c] for `columns` sparse columns of F, given by column; the rest of out,
// rows of `width` floats, is zero. The graph is undirected, weights are positive, values not negative. Summed in double precision, in the order of the entries.
void first_hop(const std::int64_t *offsets, const std::int32_t *neighbors, const float *weights, const float *scale,
               std::int64_t n_nodes, const std::int64_t *column_offsets, const std::int32_t *rows, const float *values,
               int columns, float *out, int width);

}  // namespace hopscale
