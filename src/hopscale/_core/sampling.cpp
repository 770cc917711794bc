#include "sampling.hpp"

#include <algorithm>
#include <cmath>

#include "walks.hpp"

namespace hopscale {

void build_alias(const std::int64_t *offsets, std::int64_t groups, const double *weights, float *keep,
                 std::int32_t *other) {
    std::vector<double> share;
    std::vector<std::int32_t> small, large;
    for (std::int64_t g = 0; g < groups; ++g) {
        const std::int64_t begin = offsets[g], n = offsets[g + 1] - begin;
        double total = 0;
        for (std::int64_t i = 0; i < n; ++i) total += weights[begin + i];
        share.resize(n);
        small.clear();
        large.clear();
        for (std::int64_t i = 0; i < n; ++i) {
            share[i] = total > 0 ? weights[begin + i] * double(n) / total : 1.0;
            (share[i] < 1 ? small : large).push_back(std::int32_t(i));
        }
        while (!small.empty() && !large.empty()) {
            const std::int32_t s = small.back(), l = large.back();
            small.pop_back();
            keep[begin + s] = float(share[s]);
            other[begin + s] = l;
            share[l] -= 1 - share[s];
            if (share[l] < 1) {
                large.pop_back();
                small.push_back(l);
            }
        }
        // What is left differs from 1 by rounding alone.
        for (const auto *rest : {&small, &large})
            for (const std::int32_t i : *rest) {
                keep[begin + i] = 1;
                other[begin + i] = i;
            }
    }
}

void sample_walks(const WalkSource &source, const std::int32_t *starts, std::int64_t n_starts, int count, int steps,
                  std::uint64_t seed, std::int32_t *out) {
    const Graph graph{source.edge_offsets, source.neighbors, source.edge_keep,
                      source.edge_other,   source.back,      source.away};
    for (std::int64_t i = 0; i < n_starts; ++i) {
        Random random(seed, 0, std::uint64_t(i), std::uint64_t(starts[i]));
        const bool isolated = source.edge_offsets[starts[i]] == source.edge_offsets[starts[i] + 1];
        for (int walk = 0; walk < count; ++walk) {
            std::int32_t last = -1, u = starts[i];
            for (int step = 0; step < steps; ++step) {
                const std::int32_t next = isolated                               ? -1
                                          : graph.second_order() && last >= 0 ? graph.step(random, last, u)
                                                                                 : graph.step(random, u);
                last = u;
                *out++ = u = next;
            }
        }
    }
}

SparseRows sample_rows(const WalkSource &source, const float *feature_values, std::int64_t n_features,
                       const std::int32_t *nodes, std::int64_t n_nodes, int walks, std::uint32_t hops,
                       const float *scale, std::uint64_t seed, std::uint64_t stream,
                       const volatile std::uint8_t *stop) {
    const Graph graph{source.edge_offsets, source.neighbors, source.edge_keep,
                      source.edge_other,   source.back,      source.away};
    SparseRows rows;
    rows.offsets.assign(1, 0);
    std::vector<double> seen(static_cast<std::size_t>(n_features), 0.0);  // exact sums of many equal values
    std::vector<std::int32_t> touched;
    int pooled = 0;
    for (std::uint32_t h = hops; h; h >>= 1) pooled += int(h & 1u);
    for (std::int64_t i = 0; i < n_nodes && !*stop; ++i) {
        const std::int32_t v = nodes[i];
        const std::int64_t begin = source.edge_offsets[v], degree = source.edge_offsets[v + 1] - begin;
        Random random(seed, stream, 0, std::uint64_t(v));
        // First steps are spread evenly over the neighbours (systematic sampling): unbiased, and with
        // fewer neighbours than walks the first hop has hardly any variance.
        const double offset = random.uniform();
        const int count = degree ? walks : 0;
        for (int walk = 0; walk < count; ++walk) {
            std::int32_t u = v;
            std::int32_t last = graph.second_order() ? graph.step(random, v) : -1;
            int step = 0;
            for (std::uint32_t h = hops >> 1; h; h >>= 1, ++step) {
                if (graph.second_order()) {
                    const std::int32_t next = graph.step(random, last, u);
                    last = u;
                    u = next;
                } else if (step == 0 && !graph.keep) {
                    const auto k = std::int64_t((walk + offset) / walks * double(degree));
                    u = source.neighbors[begin + std::min(k, degree - 1)];
                } else {
                    u = graph.step(random, u);
                }
                if (!(h & 1u)) continue;
                for (std::int64_t e = source.feature_offsets[u]; e < source.feature_offsets[u + 1]; ++e) {
                    const std::int32_t f = source.feature_columns[e];
                    if (seen[f] == 0.0) touched.push_back(f);
                    seen[f] += feature_values[e];
                }
            }
        }
        std::sort(touched.begin(), touched.end());
        const double mean = count ? 1.0 / (double(count) * pooled) : 0.0;
        for (const std::int32_t f : touched) {
            const auto ratio = float(seen[f] * mean * scale[f]);
            seen[f] = 0.0;
            if (ratio > 1.0f) {
                rows.columns.push_back(f);
                rows.values.push_back(std::log(ratio));
            }
        }
        touched.clear();
        rows.offsets.push_back(std::int64_t(rows.columns.size()));
    }
    return rows;
}

}  // namespace hopscale
