// Skip-gram with negative sampling on the (node, feature) pairs of random walks, never storing a pair.
//
// A visit of node v walks from v and takes every feature of the nodes it reaches as a positive of v.
// By reversibility of the walk this has the pair statistics of both directions of the paper's
// algorithms. A node's row stays in registers for all its visits.
#pragma once
#include "kernels.hpp"
#include "matrix.hpp"
#include "walks.hpp"

namespace {

constexpr int AT_ONCE = 8;      // positives whose noise is drawn, and whose rows are fetched, ahead of their use
constexpr int VISITS = 8;       // whose walks are taken together: one waits for memory while another goes on
constexpr int MAX_HOPS = 32;    // bits of SkipGram::hops
constexpr int SIGMOIDS = 16;    // evaluated together, as one vector
constexpr int MAX_ROWS = 2 * hopscale::MAX_BATCH;

struct Train {
    const hopscale::SkipGram t;

    template <int NV> std::int64_t at(std::int64_t row) const { return row * (NV ? NV * PAD : t.width); }

    // Count an update of a feature; the first one copies its row.
    template <int NV> void touch(std::uint32_t f) const {
        if (t.touches[f]++) return;
        Row<NV> row(t.width);
        row.read(t.features + at<NV>(f));
        row.write(t.own + at<NV>(f));
    }

    // Fetch the row that will be read first: the shared one, as long as there is no copy.
    template <int NV> void fetch(std::uint32_t f) const {
        const float *table = t.own && t.touches[f] ? t.own : t.features;
        prefetch_row<NV>(table + at<NV>(f), t.width);
    }

    // One step on `positives` true and `count - positives` noise features that all meet the same node row.
    template <int NV>
    void update(Row<NV> &node, const std::uint32_t *ids, int positives, int count, float noise_weight) const {
        const Row<NV> g = node;  // of our own: no store to a feature can change it, so it stays in registers
        const bool learn = t.own;
        float *const table = learn ? t.own : const_cast<float *>(t.features);  // never written to unless it is our own
        const auto feature = [&](int i) { return table + at<NV>(ids[i]); };
        alignas(64) float x[MAX_ROWS];
        int i = 0;
        for (; i + 4 <= count; i += 4)
            sum4(g.times(feature(i)), g.times(feature(i + 1)), g.times(feature(i + 2)), g.times(feature(i + 3)), x + i);
        for (; i < count; ++i) x[i] = sum(g.times(feature(i)));
        for (; i % SIGMOIDS; ++i) x[i] = 0.0f;
        for (i = 0; i < count; i += SIGMOIDS)
            for (int k = i; k < i + SIGMOIDS; ++k) {
                const float label = k < positives ? 1.0f : 0.0f, weight = k < positives ? 1.0f : noise_weight;
                x[k] = t.learning_rate * weight * (label - sigmoid(x[k]));
            }
        Row<NV> step = g;
        if (learn)
            for (i = 0; i < count; ++i) g.exchange(x[i], feature(i), step);
        else
            for (i = 0; i < count; ++i) step.add(x[i], feature(i));
        node = step;
    }

    // Trains the positives collected so far, batch by batch. A batch's noise is a systematic sample: evenly spaced
    // points, one random offset. Each point is distributed as a single draw would be, but the batch as a whole is
    // close to the distribution, so that few noise features can stand for many.
    template <int NV> void flush(Row<NV> &g, Random &random, const std::uint32_t *positives, int n) const {
        const Noise noise{t.noise_last, t.noise_feature, t.noise_guide, t.noise_shift};
        const std::uint32_t spacing = std::uint32_t((std::uint64_t(1) << 32) / std::uint64_t(t.shared));
        std::uint32_t ids[AT_ONCE * (hopscale::MAX_BATCH + 1)];
        int filled = 0;
        for (int first = 0; first < n; first += t.batch) {
            const int m = n - first < t.batch ? n - first : t.batch;
            for (int i = 0; i < m; ++i) ids[filled++] = positives[first + i];
            std::uint32_t point = std::uint32_t(random.next() >> 32);
            for (int i = 0; i < t.shared; ++i, point += spacing) {
                const std::uint32_t f = noise.at(point);
                fetch<NV>(f);
                ids[filled++] = f;
            }
        }
        if (t.own)
            for (int i = 0; i < filled; ++i) touch<NV>(ids[i]);
        const std::uint32_t *next = ids;
        for (int first = 0; first < n; first += t.batch) {
            const int m = n - first < t.batch ? n - first : t.batch;
            update<NV>(g, next, m, m + t.shared, float(t.negatives) * m / t.shared);
            next += m + t.shared;
        }
    }

    // Nodes that `count` walks from v reach at the hops that are wanted, walk by walk; returns how many that is each.
    int walk(const Graph &graph, Random &random, std::int32_t v, int count, std::int32_t *reached) const {
        const int wanted = bits(t.hops);
        std::int32_t at[VISITS], last[VISITS];
        for (int k = 0; k < count; ++k) at[k] = v;
        // The walk that comes by: from any neighbour.
        if (graph.second_order() && t.hops > 1)
            for (int k = 0; k < count; ++k) last[k] = graph.step(random, v);
        int seen = 0;
        for (std::uint32_t hops = t.hops; hops;) {
            if (hops & 1u) {
                for (int k = 0; k < count; ++k) {
                    HOPSCALE_PREFETCH(t.feature_offsets + at[k]);
                    reached[k * wanted + seen] = at[k];
                }
                ++seen;
            }
            hops >>= 1;
            if (hops && graph.second_order())
                for (int k = 0; k < count; ++k) {
                    const std::int32_t next = graph.step(random, last[k], at[k]);
                    last[k] = at[k];
                    at[k] = next;
                }
            else if (hops)
                for (int k = 0; k < count; ++k) at[k] = graph.step(random, at[k]);
        }
        return wanted;
    }

    static int bits(std::uint32_t mask) {
        int count = 0;
        for (; mask; mask &= mask - 1) ++count;
        return count;
    }

    template <int NV> hopscale::SkipGramResult run() const {
        const Graph graph{t.edge_offsets, t.neighbors, t.edge_keep, t.edge_other, t.back, t.away};
        const Features features{t.feature_offsets, t.feature_columns, t.feature_counts, t.feature_keep};
        const int capacity = t.batch < AT_ONCE ? AT_ONCE / t.batch * t.batch : t.batch;
        hopscale::SkipGramResult result{0, -1};
        for (std::int64_t i = 0; i < t.n_nodes && !*t.stop; ++i) {
            const std::int32_t v = t.nodes[i];
            if (t.visits[i] == 0) continue;
            if (i + 1 < t.n_nodes) {
                prefetch_row<NV>(t.node_table + at<NV>(t.nodes[i + 1]), t.width);
                HOPSCALE_PREFETCH(t.edge_offsets + t.nodes[i + 1]);
            }
            Random random(t.seed, t.scale, t.round, std::uint64_t(v));
            Row<NV> g(t.width);
            g.read(t.node_table + at<NV>(v));
            std::uint32_t positives[hopscale::MAX_BATCH];
            int n = 0;
            for (std::int64_t visit = 0; visit < t.visits[i]; visit += VISITS) {
                const int together = t.visits[i] - visit < VISITS ? int(t.visits[i] - visit) : VISITS;
                std::int32_t reached[VISITS * MAX_HOPS];
                const int hops = walk(graph, random, v, together, reached);
                for (int k = 0; k < together * hops; ++k) HOPSCALE_PREFETCH(t.feature_columns + t.feature_offsets[reached[k]]);
                for (int k = 0; k < together * hops; ++k) {
                    const std::int32_t u = reached[k];
                    for (std::int64_t e = t.feature_offsets[u]; e < t.feature_offsets[u + 1]; ++e) {
                        for (std::uint32_t times = features.times(random, e); times; --times) {
                            const std::uint32_t f = std::uint32_t(t.feature_columns[e]);
                            fetch<NV>(f);
                            positives[n++] = f;
                            ++result.pairs;
                            if (n == capacity) {
                                flush<NV>(g, random, positives, n);
                                n = 0;
                            }
                        }
                    }
                }
            }
            if (n) flush<NV>(g, random, positives, n);
            g.write(t.node_table + at<NV>(v));
            Floats total = g.v[0];
            for (int k = 1; k < g.size(); ++k) total += g.v[k];
            if (!(std::fabs(sum(total)) < 1e30f)) {
                result.not_finite = v;
                return result;
            }
        }
        return result;
    }
};

void accumulate(const float *own, const std::uint32_t *count, std::int64_t rows, int width, float *total) {
    for (std::int64_t i = 0; i < rows; ++i) {
        if (!count[i]) continue;
        const float weight = float(count[i]);
        for (std::int64_t k = i * width; k < (i + 1) * width; ++k) total[k] += weight * own[k];
    }
}

hopscale::SkipGramResult train(const hopscale::SkipGram &task) { return with_registers(task.width, Train{task}); }

}  // namespace
