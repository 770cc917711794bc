// Kernels that are not hot enough to be compiled per instruction set: one hop from sparse columns, and what is drawn.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "walks.hpp"

namespace hopscale {
namespace {

// out[v, c] = inverse_degrees[v]·Σ_u weight(u,v)·F[u, first + c] for c < last - first; the rest of out, rows of `width`
// floats, is zero. The rows of `features` are the columns of F; its values are positive. Summed in double precision, in
// the order of the entries, and in the unit that all weights share: they are read from rows of other nodes than v.
void first_hop(const Graph &graph, const Csr &features, int64_t first, int64_t last, float *out, int64_t width) {
    std::memset(out, 0, sizeof(float) * graph.n_nodes * width);
    std::vector<double> total(graph.n_nodes, 0.0);  // of one column, and where it is not zero
    std::vector<int32_t> reached;
    for (int64_t c = first; c < last; ++c) {
        for (int64_t k = features.offsets[c]; k < features.offsets[c + 1]; ++k) {
            const int32_t u = features.columns[k];
            const double value = graph.exponents ? std::ldexp(double(features.values[k]), graph.exponents[u])
                                                 : double(features.values[k]);
            for (int64_t e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
                const int32_t v = graph.neighbors[e];
                if (total[v] == 0.0) reached.push_back(v);
                total[v] += graph.weights ? graph.weights[e] * value : value;
            }
        }
        for (const int32_t v : reached) {
            const double mean = total[v] * graph.inverse_degrees[v];
            out[v * width + c - first] = float(graph.exponents ? std::ldexp(mean, -graph.exponents[v]) : mean);
            total[v] = 0.0;
        }
        reached.clear();
    }
}

// Alias tables (Vose) of consecutive groups of weights: offsets[g]..offsets[g+1] is one distribution.
void build_alias(const int64_t *offsets, int64_t groups, const double *weights, float *keep, int32_t *other) {
    std::vector<double> share;
    std::vector<int32_t> small, large;
    for (int64_t g = 0; g < groups; ++g) {
        const int64_t begin = offsets[g], n = offsets[g + 1] - begin;
        double total = 0;
        for (int64_t i = 0; i < n; ++i) total += weights[begin + i];
        share.resize(n);
        small.clear();
        large.clear();
        for (int64_t i = 0; i < n; ++i) {
            share[i] = total > 0 ? weights[begin + i] * double(n) / total : 1.0;
            (share[i] < 1 ? small : large).push_back(int32_t(i));
        }
        while (!small.empty() && !large.empty()) {
            const int32_t s = small.back(), l = large.back();
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
            for (const int32_t i : *rest) {
                keep[begin + i] = 1;
                other[begin + i] = i;
            }
    }
}

// The node reached after each of `steps` steps, for `count` walks from every start; -1 from an isolated node.
void sample_walks(const Graph &graph, const int32_t *starts, int64_t n_starts, int64_t count, int64_t steps,
                  uint64_t seed, int32_t *out) {
    for (int64_t i = 0; i < n_starts; ++i) {
        Random random(seed, 0, uint64_t(i), uint64_t(starts[i]));
        const bool isolated = graph.offsets[starts[i]] == graph.offsets[starts[i] + 1];
        for (int64_t walk = 0; walk < count; ++walk) {
            int32_t last = -1, u = starts[i];
            for (int64_t k = 0; k < steps; ++k) {
                const bool biased = second_order(graph) && last >= 0;
                const int32_t next = isolated ? -1 : biased ? step(graph, random, last, u) : step(graph, random, u);
                last = u;
                *out++ = u = next;
            }
        }
    }
}

// What to sample rows from: `walks` walks of each node, at the steps in `hops` (bit r: step r, from 1 on). A mean over
// walks is multiplied by the feature's scale.
struct RowTask {
    const int32_t *nodes;
    int64_t n_nodes, walks;
    uint32_t hops;
    const float *scale;
    uint64_t seed, stream;
    const volatile uint8_t *stop;
};

struct SparseRows {
    std::vector<int64_t> offsets;
    std::vector<int32_t> columns;
    std::vector<float> values;
};

// Positive entries of log(scale_f · mean over walks of F[u, f]) for each node, u at the steps in `hops`. Values of F
// are positive. Told to stop, it returns the rows that are complete. The features are a copy, which no store can
// change: their pointers stay in registers.
SparseRows sample_rows(const Graph &graph, Csr features, const RowTask &task) {
    SparseRows rows;
    rows.offsets.assign(1, 0);
    std::vector<double> seen(static_cast<size_t>(features.n_columns), 0.0);  // exact sums of many equal values
    std::vector<int32_t> touched;
    const int pooled = bits(task.hops);
    for (int64_t i = 0; i < task.n_nodes; ++i) {
        const int32_t v = task.nodes[i];
        const int64_t begin = graph.offsets[v], degree = graph.offsets[v + 1] - begin;
        Random random(task.seed, task.stream, 0, uint64_t(v));
        // First steps are spread evenly over the neighbours (systematic sampling): unbiased, and with
        // fewer neighbours than walks the first hop has hardly any variance.
        const double offset = random.uniform();
        const int64_t count = degree ? task.walks : 0;
        for (int64_t walk = 0; walk < count; ++walk) {
            if (*task.stop) return rows;
            int32_t u = v, last = second_order(graph) ? step(graph, random, v) : -1;
            int taken = 0;
            for (uint32_t h = task.hops >> 1; h; h >>= 1, ++taken) {
                if (second_order(graph)) {
                    advance(graph, random, last, u);
                } else if (taken == 0 && !graph.keep) {
                    const auto k = int64_t((double(walk) + offset) / double(count) * double(degree));
                    u = graph.neighbors[begin + std::min(k, degree - 1)];
                } else {
                    u = step(graph, random, u);
                }
                if (!(h & 1u)) continue;
                for (int64_t e = features.offsets[u], end = features.offsets[u + 1]; e < end; ++e) {
                    const int32_t f = features.columns[e];
                    if (seen[f] == 0.0) touched.push_back(f);
                    seen[f] += features.values[e];
                }
            }
        }
        std::sort(touched.begin(), touched.end());
        const double mean = count ? 1.0 / (double(count) * pooled) : 0.0;
        for (const int32_t f : touched) {
            const auto ratio = float(seen[f] * mean * task.scale[f]);
            seen[f] = 0.0;
            if (ratio > 1.0f) {
                rows.columns.push_back(f);
                rows.values.push_back(std::log(ratio));
            }
        }
        touched.clear();
        rows.offsets.push_back(int64_t(rows.columns.size()));
    }
    rows.columns.shrink_to_fit();  // they may be kept
    rows.values.shrink_to_fit();
    return rows;
}

}  // namespace
}  // namespace hopscale
