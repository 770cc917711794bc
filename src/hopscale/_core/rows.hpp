// Rows of the target matrix one by one, each from where walks from its node are.
//
// After every step the walk's distribution is a list of places and weights. The list is exact as long as there are at
// most `walks` ways to go on; beyond, a systematic sample of so many ways stands for all of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "huge_pages.hpp"
#include "kernels.hpp"
#include "simd.hpp"
#include "walks.hpp"

namespace hopscale {
namespace {

// What rows are made from: walks on a graph, and the features that they meet at the steps in `hops` (bit r: step r,
// from 1 on). A mean over walks is multiplied by the feature's scale; positive logarithms are raised to a power.
struct RowTask {
    Graph graph;
    Csr features;
    int64_t walks;
    uint32_t hops;
    const float *scale;
    float power;
    uint64_t seed, stream;
    const volatile uint8_t *stop;
};

// Nodes, and how likely a walk is to be there; a node may be there several times.
struct Places {
    std::vector<int32_t> node;
    std::vector<float> weight;
    size_t size() const { return node.size(); }
    void clear() {
        node.clear();
        weight.clear();
    }
    void add(int32_t v, float w) {
        node.push_back(v);
        weight.push_back(w);
    }
};

constexpr int FETCH = 16;            // places whose offsets are fetched ahead of their use
constexpr int FETCH_LIST = 8;        // and what they point at
constexpr int MOST_CHANGES = 8;      // of the number of ways that a unit of weight may take
constexpr int SPARSE_ROW = 64;       // columns are scanned in the time in which one that was met is sorted
constexpr int64_t AT_A_TIME = 4096;  // biased walks

// Each node once, with the sum of its weights.
void merge(Places &places) {
    std::vector<std::pair<int32_t, float>> all(places.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = {places.node[i], places.weight[i]};
    std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    places.clear();
    for (size_t i = 0; i < all.size();) {
        double total = 0.0;
        const int32_t v = all[i].first;
        for (; i < all.size() && all[i].first == v; ++i) total += all[i].second;
        places.add(v, float(total));
    }
}

// The number of ways that a unit of weight may take, so that all places together take `most`: a place takes no more of
// them than it has edges, and what it leaves is shared out among the others.
double ways_per_weight(const Graph &graph, const Places &from, double most) {
    double ways = most;  // weights sum to one
    for (int change = 0; change < MOST_CHANGES; ++change) {
        double taken = 0.0, open = 0.0;
        for (size_t i = 0; i < from.size(); ++i) {
            const auto edges = double(degree(graph, from.node[i]));
            if (edges <= ways * from.weight[i]) taken += edges;
            else open += from.weight[i];
        }
        const double more = open > 0 ? (most - taken) / open : ways;
        if (more <= ways * 1.0001) break;
        ways = more;
    }
    return ways;
}

// One step from all places: every way from each, or about `most` ways in all.
void spread(const Graph &graph, Random &random, Places &from, Places &to, int64_t most) {
    const auto all_ways = [&] {
        int64_t count = 0;
        for (size_t i = 0; i < from.size(); ++i) {
            if (i + FETCH < from.size()) HOPSCALE_PREFETCH(graph.offsets + from.node[i + FETCH]);
            count += degree(graph, from.node[i]);
        }
        return count;
    };
    int64_t count = all_ways();
    if (count > graph.offsets[graph.n_nodes]) {  // more ways than edges: some are there twice
        merge(from);
        count = all_ways();
    }
    const bool sampled = count > most;
    const double ways = sampled ? ways_per_weight(graph, from, double(most)) : 0.0;
    double taken = sampled ? random.uniform() : 0.0, total = 0.0;
    to.clear();
    for (size_t i = 0; i < from.size(); ++i) {
        if (i + FETCH_LIST < from.size()) HOPSCALE_PREFETCH(graph.neighbors + graph.offsets[from.node[i + FETCH_LIST]]);
        const int32_t u = from.node[i];
        const int64_t begin = graph.offsets[u], edges = graph.offsets[u + 1] - begin;
        const float weight = from.weight[i];
        if (!sampled || double(edges) <= ways * weight) {
            const float each = weight * graph.inverse_degrees[u];
            for (int64_t e = begin; e < begin + edges; ++e)
                to.add(graph.neighbors[e], graph.weights ? each * graph.weights[e] : each);
            total += weight;
            continue;
        }
        // Systematic over the places: each gets the whole numbers around what is due to it.
        const double before = std::floor(taken);
        taken += ways * weight;
        const auto tickets = int64_t(std::floor(taken) - before);
        if (!tickets) continue;
        const float each = ways * weight < 1 ? float(1.0 / ways) : weight / float(tickets);
        total += double(each) * double(tickets);
        // And over the edges of each, where all weigh the same.
        const double apart = double(edges) / double(tickets);
        double at = graph.keep ? 0.0 : random.uniform() * apart;
        for (int64_t k = 0; k < tickets; ++k, at += apart)
            to.add(graph.keep ? step(graph, random, u) : graph.neighbors[begin + std::min(int64_t(at), edges - 1)],
                   each);
    }
    const auto unit = float(1.0 / total);
    if (sampled)
        for (float &weight : to.weight) weight *= unit;
}

// A row while it is made: what was met of each feature. As long as that is little, it is known where.
class SeenRow {
public:
    explicit SeenRow(int64_t columns) : seen_(size_t(columns) + PADDING, 0.0) {}

    // Adds the features at all places, times a share.
    void meet(const Csr &features, const Places &places, double share) {
        int64_t entries = 0;
        for (size_t i = 0; i < places.size(); ++i) {
            if (i + FETCH < places.size()) HOPSCALE_PREFETCH(features.offsets + places.node[i + FETCH]);
            entries += features.offsets[places.node[i] + 1] - features.offsets[places.node[i]];
        }
        sparse_ = sparse_ && (int64_t(touched_.size()) + entries) * SPARSE_ROW < features.n_columns;
        if (sparse_) add<true>(features, places, share);
        else add<false>(features, places, share);
    }

    // Positive entries of log(scale·seen), to a power, by column; and forgets what was seen. There must be room for one
    // entry in each column and 16 more.
    int64_t take(const Csr &features, const float *scale, float power, int32_t *columns, float *values,
                 const Kernels &kernels) {
        int64_t count = 0;
        if (sparse_) {
            std::sort(touched_.begin(), touched_.end());
            for (const int32_t f : touched_) {
                const float ratio = float(seen_[f]) * scale[f];
                seen_[f] = 0.0;
                columns[count] = f;
                values[count] = ratio;
                count += ratio > 1.0f;
            }
        } else {
            count = kernels.above_one(seen_.data(), scale, features.n_columns, columns, values);
        }
        touched_.clear();
        sparse_ = true;
        kernels.logs(values, count);
        if (power == 0.5f)
            for (int64_t k = 0; k < count; ++k) values[k] = std::sqrt(values[k]);
        else if (power != 1.0f)
            for (int64_t k = 0; k < count; ++k) values[k] = std::pow(values[k], power);
        return count;
    }

private:
    static constexpr size_t PADDING = 16;

    template <bool SPARSE> void add(const Csr &features, const Places &places, double share) {
        const size_t count = places.size();
        double *const seen = seen_.data();
        for (size_t i = 0; i < count; ++i) {
            if (i + FETCH_LIST < count) {
                const int64_t e = features.offsets[places.node[i + FETCH_LIST]];
                HOPSCALE_PREFETCH(features.columns + e);
                HOPSCALE_PREFETCH(features.columns + e + 16);
                HOPSCALE_PREFETCH(features.values + e);
                HOPSCALE_PREFETCH(features.values + e + 16);
            }
            const int32_t u = places.node[i];
            const double weight = share * places.weight[i];
            for (int64_t e = features.offsets[u], end = features.offsets[u + 1]; e < end; ++e) {
                const int32_t f = features.columns[e];
                if (SPARSE && seen[f] == 0.0) touched_.push_back(f);
                seen[f] += weight * features.values[e];
            }
        }
    }

    std::vector<double> seen_;
    std::vector<int32_t> touched_;
    bool sparse_ = true;
};

// Makes rows, one after the other; what it works with is used again.
class RowMaker {
public:
    RowMaker(const RowTask &task, const Kernels &kernels)
        : task_(task), kernels_(kernels), row_(task.features.n_columns), share_(1.0 / bits(task.hops)) {}

    // The entries of a node's row, and their number; -1 where told to stop.
    int64_t make(int32_t v, int32_t *columns, float *values) {
        if (degree(task_.graph, v)) {
            Random random(task_.seed, task_.stream, 0, uint64_t(v));
            if (second_order(task_.graph)) walk_with_bias(v, random);
            else walk(v, random);
        }
        if (*task_.stop) return -1;
        return row_.take(task_.features, task_.scale, task_.power, columns, values, kernels_);
    }

private:
    void walk(int32_t v, Random &random) {
        here_.clear();
        here_.add(v, 1.0f);
        for (uint32_t hops = task_.hops >> 1; hops && !*task_.stop; hops >>= 1) {
            spread(task_.graph, random, here_, there_, task_.walks);
            std::swap(here_, there_);
            if (hops & 1u) row_.meet(task_.features, here_, share_);
        }
    }

    // A step depends on the one before: walks are drawn one by one, some at a time.
    void walk_with_bias(int32_t v, Random &random) {
        const double share = share_ / double(task_.walks);
        for (int64_t left = task_.walks; left > 0 && !*task_.stop; left -= AT_A_TIME) {
            const auto count = size_t(std::min(left, AT_A_TIME));
            here_.node.assign(count, v);
            here_.weight.assign(count, 1.0f);
            last_.resize(count);
            for (int32_t &last : last_) last = step(task_.graph, random, v);
            for (uint32_t hops = task_.hops >> 1; hops && !*task_.stop; hops >>= 1) {
                for (size_t i = 0; i < count; ++i) advance(task_.graph, random, last_[i], here_.node[i]);
                if (hops & 1u) row_.meet(task_.features, here_, share);
            }
        }
    }

    const RowTask task_;
    const Kernels &kernels_;
    SeenRow row_;
    const double share_;
    Places here_, there_;
    std::vector<int32_t> last_;
};

template <template <typename> class Vector> struct SparseRows {
    std::vector<int64_t> offsets{0};
    Vector<int32_t> columns;
    Vector<float> values;
};

// The rows of some nodes. Told to stop, those that are complete.
template <template <typename> class Vector>
SparseRows<Vector> sample_rows(const RowTask &task, const int32_t *nodes, int64_t count, const Kernels &kernels) {
    SparseRows<Vector> rows;
    RowMaker maker(task, kernels);
    const auto room = size_t(task.features.n_columns) + 16;
    LargeVector<int32_t> columns(room);
    LargeVector<float> values(room);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t entries = maker.make(nodes[i], columns.data(), values.data());
        if (entries < 0) return rows;
        if (i == 0) {  // others are about as long: arrays that grow are copied again and again
            rows.columns.reserve(size_t(entries + entries / 4) * size_t(count));
            rows.values.reserve(size_t(entries + entries / 4) * size_t(count));
        }
        rows.columns.insert(rows.columns.end(), columns.begin(), columns.begin() + entries);
        rows.values.insert(rows.values.end(), values.begin(), values.begin() + entries);
        rows.offsets.push_back(int64_t(rows.columns.size()));
    }
    return rows;
}

// y[i] = row of nodes[i] times x, rows of `width` floats. About `together` entries are held at a time: many rows share
// what they read of x. Told to stop, y has no meaning.
void project_rows(const RowTask &task, const int32_t *nodes, int64_t count, const float *x, float *y, int width,
                  int64_t together, const Kernels &kernels) {
    RowMaker maker(task, kernels);
    const auto room = size_t(together + task.features.n_columns) + 16;
    LargeVector<int32_t> columns(room);
    LargeVector<float> values(room);
    std::vector<int64_t> offsets{0};
    for (int64_t i = 0, first = 0; i < count; ++i) {
        const int64_t used = offsets.back(),
                      entries = maker.make(nodes[i], columns.data() + used, values.data() + used);
        if (entries < 0) return;
        offsets.push_back(used + entries);
        if (offsets.back() < together && i + 1 < count) continue;
        kernels.rows_times(
            {int64_t(offsets.size()) - 1, task.features.n_columns, offsets.data(), columns.data(), values.data(), true},
            x, y + first * width, width);
        first = i + 1;
        offsets.assign(1, 0);
    }
}

// The same matrix in panels of `width` columns, one after the other. Each row is multiplied by its weight, where there
// are weights.
struct PanelledRows {
    std::vector<Panel> panels;     // these point into the arrays
    KeptVector<uint32_t> offsets;  // rows + 1 of each panel
    KeptVector<uint8_t> columns;
    KeptVector<float> values;
};

PanelledRows panelled(const Csr &matrix, int64_t width, const float *weights) {
    const int64_t rows = matrix.n_rows, panels = (matrix.n_columns + width - 1) / width;
    const int64_t entries = matrix.offsets[rows];
    std::vector<int64_t> at(size_t(panels) + 1, 0);
    for (int64_t k = 0; k < entries; ++k) ++at[size_t(matrix.columns[k] / width) + 1];
    for (int64_t j = 0; j < panels; ++j) at[size_t(j) + 1] += at[size_t(j)];
    PanelledRows found;
    found.offsets.assign(size_t(panels * (rows + 1)), 0);
    found.columns.resize(size_t(entries));
    found.values.resize(size_t(entries));
    const std::vector<int64_t> begin(at);
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t k = matrix.offsets[i]; k < matrix.offsets[i + 1]; ++k) {
            const int64_t j = matrix.columns[k] / width, to = at[size_t(j)]++;
            found.columns[size_t(to)] = uint8_t(matrix.columns[k] - j * width);
            found.values[size_t(to)] = weights ? weights[i] * matrix.values[k] : matrix.values[k];
        }
        for (int64_t j = 0; j < panels; ++j)
            found.offsets[size_t(j * (rows + 1) + i + 1)] = uint32_t(at[size_t(j)] - begin[size_t(j)]);
    }
    for (int64_t j = 0; j < panels; ++j)
        found.panels.push_back({found.offsets.data() + j * (rows + 1), found.columns.data() + begin[size_t(j)],
                                found.values.data() + begin[size_t(j)]});
    return found;
}

}  // namespace
}  // namespace hopscale
