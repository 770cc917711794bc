// Kernels that are not hot enough to be compiled per instruction set: one hop from sparse columns, and what is drawn.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "huge_pages.hpp"
#include "walks.hpp"

namespace hopscale {
namespace {

// Calls f(v, c, mean) for every node v that one hop leads to from columns first..last of F, column by column:
// inverse_degrees[v]·Σ_u weight(u,v)·F[u, c]. The rows of `features` are the columns of F; its values are positive.
// Summed in double precision, in the order of the entries, and in the unit that all weights share: they are read from
// rows of other nodes than v.
template <typename F> void each_mean(const Graph &graph, const Csr &features, int64_t first, int64_t last, F &&f) {
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
            f(v, c, graph.exponents ? std::ldexp(mean, -graph.exponents[v]) : mean);
            total[v] = 0.0;
        }
        reached.clear();
    }
}

// These means as a dense block: out[v, c - first], rows of `width` floats; the rest of it is zero.
void first_hop(const Graph &graph, const Csr &features, int64_t first, int64_t last, float *out, int64_t width) {
    std::memset(out, 0, sizeof(float) * graph.n_nodes * width);
    each_mean(graph, features, first, last,
              [=](int32_t v, int64_t c, double mean) { out[v * width + c - first] = float(mean); });
}

// And as a sparse one, each column times a factor. A row that is not nearly empty has all columns, zeros too: it is
// added to another one without looking where its entries belong.
constexpr int64_t FULL = 8;          // a row with more than one entry for so many columns
constexpr uint64_t MOST_STORED = 2;  // times as many entries as there are

struct SparseBlock {
    LargeVector<uint32_t> offsets;
    LargeVector<uint8_t> columns;
    LargeVector<float> values;
};

SparseBlock first_panel(const Graph &graph, const Csr &features, int64_t first, int64_t last, const float *factors) {
    struct Entry {
        int32_t row;
        float value;
    };
    std::vector<LargeVector<Entry>> by_column(size_t(last - first));
    const auto n = size_t(graph.n_nodes);
    SparseBlock block;
    block.offsets.assign(n + 2, 0);  // one late at first, so that filling rows moves them into place
    each_mean(graph, features, first, last, [&](int32_t v, int64_t c, double mean) {
        by_column[size_t(c - first)].push_back({v, float(mean * factors[c])});
        ++block.offsets[size_t(v) + 2];
    });
    const auto width = uint32_t(last - first);
    LargeVector<uint8_t> full(n, 0);
    const auto fills = [=](uint32_t count) { return count * FULL > width; };
    uint64_t entries = 0, stored = 0;
    for (size_t i = 0; i < n; ++i) {
        entries += block.offsets[i + 2];
        stored += fills(block.offsets[i + 2]) ? width : block.offsets[i + 2];
    }
    const bool may = stored <= MOST_STORED * entries;  // else they would take too much memory
    for (size_t i = 0; i < n; ++i) {
        full[i] = may && fills(block.offsets[i + 2]);
        if (full[i]) block.offsets[i + 2] = width;
        block.offsets[i + 2] += block.offsets[i + 1];
    }
    block.columns.resize(block.offsets[n + 1]);
    block.values.resize(block.offsets[n + 1]);
    for (size_t i = 0; i < n; ++i)
        for (uint32_t c = 0; full[i] && c < width; ++c) {
            block.columns[block.offsets[i + 1] + c] = uint8_t(c);
            block.values[block.offsets[i + 1] + c] = 0.0f;
        }
    for (size_t c = 0; c < by_column.size(); ++c)
        for (const Entry &entry : by_column[c]) {
            const auto row = size_t(entry.row);
            const uint32_t to = full[row] ? block.offsets[row + 1] + uint32_t(c) : block.offsets[row + 1]++;
            block.columns[to] = uint8_t(c);
            block.values[to] = entry.value;
        }
    for (size_t i = 0; i < n; ++i) block.offsets[i + 1] += full[i] * width;
    block.offsets.pop_back();
    return block;
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

}  // namespace
}  // namespace hopscale
