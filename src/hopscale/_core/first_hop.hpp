// One hop from sparse columns.
#pragma once
#include "structs.hpp"

namespace hopscale {

// out[v, c] = inverse_degrees[v]·Σ_u weight(u,v)·F[u, first + c] for c < last - first; the rest of out, rows of `width`
// floats, is zero. The rows of `features` are the columns of F; its values are positive. Summed in double precision, in
// the order of the entries.
void first_hop(const Graph &graph, const Csr &features, std::int64_t first, std::int64_t last, float *out,
               std::int64_t width);

}  // namespace hopscale
