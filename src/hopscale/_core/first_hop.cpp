#include "first_hop.hpp"

#include <cstring>
#include <vector>

namespace hopscale {

void first_hop(const Graph &graph, const Csr &features, std::int64_t first, std::int64_t last, float *out,
               std::int64_t width) {
    std::memset(out, 0, sizeof(float) * graph.n_nodes * width);
    std::vector<double> total(graph.n_nodes, 0.0);  // of one column, and where it is not zero
    std::vector<std::int32_t> reached;
    for (std::int64_t c = first; c < last; ++c) {
        for (std::int64_t k = features.offsets[c]; k < features.offsets[c + 1]; ++k) {
            const double value = features.values[k];
            const std::int32_t u = features.columns[k];
            for (std::int64_t e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
                const std::int32_t v = graph.neighbors[e];
                if (total[v] == 0.0) reached.push_back(v);
                total[v] += graph.weights ? graph.weights[e] * value : value;
            }
        }
        for (const std::int32_t v : reached) {
            out[v * width + c - first] = float(total[v] * graph.inverse_degrees[v]);
            total[v] = 0.0;
        }
        reached.clear();
    }
}

}  // namespace hopscale
