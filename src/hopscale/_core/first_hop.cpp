#include "first_hop.hpp"

#include <cstring>
#include <vector>

namespace hopscale {

void first_hop(const std::int64_t *offsets, const std::int32_t *neighbors, const float *weights, const float *scale,
               std::int64_t n_nodes, const std::int64_t *column_offsets, const std::int32_t *rows, const float *values,
               int columns, float *out, int width) {
    std::memset(out, 0, sizeof(float) * n_nodes * width);
    std::vector<double> total(n_nodes, 0.0);  // of one column, and where it is not zero
    std::vector<std::int32_t> reached;
    for (int c = 0; c < columns; ++c) {
        for (std::int64_t k = column_offsets[c]; k < column_offsets[c + 1]; ++k) {
            const double value = values[k];
            if (value == 0.0) continue;
            for (std::int64_t e = offsets[rows[k]]; e < offsets[rows[k] + 1]; ++e) {
                const std::int32_t v = neighbors[e];
                if (total[v] == 0.0) reached.push_back(v);
                total[v] += weights ? weights[e] * value : value;
            }
        }
        for (const std::int32_t v : reached) {
            out[v * std::int64_t(width) + c] = float(total[v] * scale[v]);
            total[v] = 0.0;
        }
        reached.clear();
    }
}

}  // namespace hopscale
