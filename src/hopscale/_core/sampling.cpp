#include "sampling.hpp"

#include <algorithm>
#include <cmath>

#include "walks.hpp"

namespace hopscale {

constexpr int WALKS_PER_LOOK = 256;  // walks of a node between two looks at `stop`: a few thousand steps at most

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

void sample_walks(const Graph &graph, const std::int32_t *starts, std::int64_t n_starts, std::int64_t count,
                  std::int64_t steps, std::uint64_t seed, std::int32_t *out) {
    for (std::int64_t i = 0; i < n_starts; ++i) {
        Random random(seed, 0, std::uint64_t(i), std::uint64_t(starts[i]));
        const bool isolated = graph.offsets[starts[i]] == graph.offsets[starts[i] + 1];
        for (std::int64_t walk = 0; walk < count; ++walk) {
            std::int32_t last = -1, u = starts[i];
            for (std::int64_t k = 0; k < steps; ++k) {
                std::int32_t next = -1;
                if (!isolated)
                    next = second_order(graph) && last >= 0 ? step(graph, random, last, u) : step(graph, random, u);
                last = u;
                *out++ = u = next;
            }
        }
    }
}

SparseRows sample_rows(const Graph &graph, Csr features, const RowTask &task) {
    SparseRows rows;
    rows.offsets.assign(1, 0);
    std::vector<double> seen(static_cast<std::size_t>(features.n_columns), 0.0);  // exact sums of many equal values
    std::vector<std::int32_t> touched;
    int pooled = 0;
    for (std::uint32_t h = task.hops; h; h >>= 1) pooled += int(h & 1u);
    for (std::int64_t i = 0; i < task.n_nodes; ++i) {
        const std::int32_t v = task.nodes[i];
        const std::int64_t begin = graph.offsets[v], degree = graph.offsets[v + 1] - begin;
        Random random(task.seed, task.stream, 0, std::uint64_t(v));
        // First steps are spread evenly over the neighbours (systematic sampling): unbiased, and with
        // fewer neighbours than walks the first hop has hardly any variance.
        const double offset = random.uniform();
        const std::int64_t count = degree ? task.walks : 0;
        for (std::int64_t walk = 0; walk < count; ++walk) {
            if (walk % WALKS_PER_LOOK == 0 && *task.stop) return rows;
            std::int32_t u = v;
            std::int32_t last = second_order(graph) ? step(graph, random, v) : -1;
            int taken = 0;
            for (std::uint32_t h = task.hops >> 1; h; h >>= 1, ++taken) {
                if (second_order(graph)) {
                    const std::int32_t next = step(graph, random, last, u);
                    last = u;
                    u = next;
                } else if (taken == 0 && !graph.keep) {
                    const auto k = std::int64_t((double(walk) + offset) / double(count) * double(degree));
                    u = graph.neighbors[begin + std::min(k, degree - 1)];
                } else {
                    u = step(graph, random, u);
                }
                if (!(h & 1u)) continue;
                for (std::int64_t e = features.offsets[u], end = features.offsets[u + 1]; e < end; ++e) {
                    const std::int32_t f = features.columns[e];
                    if (seen[f] == 0.0) touched.push_back(f);
                    seen[f] += features.values[e];
                }
            }
        }
        std::sort(touched.begin(), touched.end());
        const double mean = count ? 1.0 / (double(count) * pooled) : 0.0;
        for (const std::int32_t f : touched) {
            const auto ratio = float(seen[f] * mean * task.scale[f]);
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
