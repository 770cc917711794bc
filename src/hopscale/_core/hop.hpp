// One hop of a block of columns, and what a scale makes of it while a row is at hand: nothing of the target matrix is
// kept.
#pragma once
#include "matrix.hpp"

namespace hopscale {
namespace {

constexpr int MAX_BLOCK = 256;
constexpr int FAR_AHEAD = 16;  // edges ahead of their use for which it is fetched where the entries of a row are

// Where a column of a row of a dense block is.
inline int64_t place(const Hop &hop, int64_t row, int column) {
    return column / hop.stride * hop.apart + row * hop.stride + column % hop.stride;
}

// y += (ratios above one: their logarithms, to a power)·x, for `n` ratios and their columns.
template <int NV> inline void add_logs(const Hop &hop, const uint8_t *columns, float *ratios, int n, float *y) {
    if (!n) return;
    for (int k = 0; k < n; ++k) ratios[k] = fast_log(ratios[k]);
    if (hop.power == 0.5f)
        for (int k = 0; k < n; ++k) ratios[k] = std::sqrt(ratios[k]);
    else if (hop.power != 1.0f)
        for (int k = 0; k < n; ++k) ratios[k] = std::pow(ratios[k], hop.power);
    Row<NV> sum(hop.columns);
    sum.read(y);
    for (int k = 0; k < n; ++k) sum.add(ratios[k], hop.x + int64_t(columns[k]) * hop.columns);
    sum.write(y);
}

// Sum over the neighbours of a node, in runs: at a hub one long sum would lose digits.
template <int NV> inline void sum_dense(const Hop &hop, int64_t i, int64_t last, Row<NV> &row) {
    const Graph &graph = hop.graph;
    const int32_t *neighbors = graph.neighbors;
    Row<NV> run(hop.width);
    row.zero();
    for (int64_t e = graph.offsets[i], end = graph.offsets[i + 1]; e < end;) {
        const int64_t stop = e + RUN < end ? e + RUN : end;
        run.zero();
        for (; e < stop; ++e) {
            if (e + AHEAD < last) prefetch_row<NV>(hop.dense + int64_t(neighbors[e + AHEAD]) * hop.stride, hop.width);
            const Half *p = hop.dense + int64_t(neighbors[e]) * hop.stride;
            if (graph.weights) run.add(graph.weights[e], p);
            else run.add(p);
        }
        for (int k = 0; k < row.size(); ++k) row.v[k] += run.v[k];
    }
}

inline void sum_sparse(const Hop &hop, int64_t i, int64_t last, float *row) {
    const Graph &graph = hop.graph;
    const int32_t *neighbors = graph.neighbors;
    const auto [offsets, columns, values] = hop.sparse;
    alignas(64) float run[MAX_BLOCK];
    std::memset(row, 0, sizeof(float) * hop.width);
    float *sums = row;  // the first run needs no place of its own
    for (int64_t e = graph.offsets[i], end = graph.offsets[i + 1]; e < end; sums = run) {
        const int64_t stop = e + RUN < end ? e + RUN : end;
        if (sums == run) std::memset(run, 0, sizeof(float) * hop.width);
        for (; e < stop; ++e) {
            if (e + FAR_AHEAD < last) {
                HOPSCALE_PREFETCH(offsets + neighbors[e + FAR_AHEAD]);
                const uint32_t k = offsets[neighbors[e + AHEAD]];
                HOPSCALE_PREFETCH(columns + k);
                HOPSCALE_PREFETCH(values + k);
            }
            const int32_t u = neighbors[e];
            const float weight = graph.weights ? graph.weights[e] : 1.0f;
            const uint32_t begin = offsets[u], end = offsets[u + 1];
            if (end - begin == uint32_t(hop.width))  // all columns are there, in order
                for (int c = 0; c < hop.width; c += LANES)
                    store(sums + c, load(sums + c) + weight * load(values + begin + c));
            else
                for (uint32_t k = begin; k < end; ++k) sums[columns[k]] += weight * values[k];
        }
        if (sums == run)
            for (int c = 0; c < hop.width; c += LANES) store(row + c, load(row + c) + load(run + c));
    }
}

// The mean over the neighbours of a node goes where it is wanted; what a scale sees of it is at hand then.
template <int NV> inline void mean_row(const Hop &hop, int64_t i, int64_t last, float *at_hand) {
    const float inverse = hop.graph.inverse_degrees[i];
    if (hop.dense) {
        Half *const out = hop.out ? hop.out + i * hop.stride : nullptr;
        Half *const sums = hop.pooled ? hop.pooled + i * hop.stride : nullptr;
        Row<NV> row(hop.width);
        sum_dense<NV>(hop, i, last, row);
        for (int k = 0; k < row.size(); ++k) row.v[k] = inverse * row.v[k];
        if (out) row.write(out);
        if (sums) {
            row.add(sums);
            row.write(sums);
        }
        if (hop.scale) row.write(at_hand);
        return;
    }
    sum_sparse(hop, i, last, at_hand);
    for (int c = 0; c < hop.width; c += LANES) {
        const Floats mean = inverse * load(at_hand + c);
        store(at_hand + c, mean);
        if (hop.out) store(hop.out + place(hop, i, c), mean);
    }
    if (!hop.pooled) return;
    const auto [offsets, columns, values] = hop.sparse;
    for (uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) at_hand[columns[k]] += values[k];
    for (int c = 0; c < hop.width; c += LANES) store(hop.pooled + place(hop, i, c), load(at_hand + c));
}

template <int NV, int COLUMNS> void hop_rows(const Hop &hop, int64_t begin, int64_t end) {
    const int64_t last = hop.graph.offsets[end];
    alignas(64) float at_hand[MAX_BLOCK], ratios[MAX_BLOCK + PAD];
    uint8_t columns[MAX_BLOCK + PAD];
    for (int64_t i = begin; i < end; ++i) {
        mean_row<NV>(hop, i, last, at_hand);
        if (!hop.scale) continue;
        int n = 0;
        for (int c = 0; c < hop.width; c += PAD) n += pick(at_hand + c, hop.scale + c, c, columns + n, ratios + n);
        add_logs<COLUMNS>(hop, columns, ratios, n, hop.y + i * hop.columns);
    }
}

// Calls f with the number of registers of a row of y, for the usual numbers of dimensions, or with 0.
template <typename F> inline void with_columns(int columns, F &&f) {
    switch (columns / PAD) {
    case 2: return f(Registers<2>());
    case 3: return f(Registers<3>());
    case 6: return f(Registers<6>());
    case 8: return f(Registers<8>());
    default: return f(Registers<0>());
    }
}

void one_hop(const Hop &hop, int64_t begin, int64_t end) {
    with_columns(hop.columns, [&](auto columns) {
        constexpr int COLUMNS = decltype(columns)::value;
        switch (hop.width / PAD) {
        case 4: return hop_rows<4, COLUMNS>(hop, begin, end);
        case 8: return hop_rows<8, COLUMNS>(hop, begin, end);
        default: return hop_rows<0, COLUMNS>(hop, begin, end);
        }
    });
}

// What a scale makes of a sparse block as it is.
void no_hop(const Hop &hop, int64_t begin, int64_t end) {
    with_columns(hop.columns, [&](auto registers) {
        const auto [offsets, columns, values] = hop.sparse;
        float ratios[MAX_BLOCK];
        uint8_t kept[MAX_BLOCK];
        for (int64_t i = begin; i < end; ++i) {
            int n = 0;
            for (uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
                kept[n] = columns[k];
                ratios[n] = values[k] * hop.scale[columns[k]];
                n += ratios[n] > 1.0f;
            }
            add_logs<decltype(registers)::value>(hop, kept, ratios, n, hop.y + i * hop.columns);
        }
    });
}

// A sparse block as a dense one.
void fill(const Hop &hop, int64_t begin, int64_t end) {
    const auto [offsets, columns, values] = hop.sparse;
    alignas(64) float row[MAX_BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        std::memset(row, 0, sizeof(float) * hop.width);
        for (uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) row[columns[k]] = values[k];
        for (int c = 0; c < hop.width; c += LANES) store(hop.out + place(hop, i, c), load(row + c));
    }
}

}  // namespace
}  // namespace hopscale
