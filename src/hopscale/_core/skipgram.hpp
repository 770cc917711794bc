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

struct Train {
    const hopscale::SkipGram &t;

    // One step on `positives` true and `count - positives` noise features that all meet the same node row.
    template <int NV> void update(Row<NV> &g, const std::uint32_t *ids, int positives, int count, float noise_weight) const {
        alignas(64) float coefficient[2 * hopscale::MAX_BATCH];
        for (int i = 0; i < count; ++i) coefficient[i] = g.dot(t.feature_table + std::int64_t(ids[i]) * t.width);
        for (int i = 0; i < positives; ++i) coefficient[i] = t.learning_rate * (1.0f - sigmoid(coefficient[i]));
        const float noise_rate = -t.learning_rate * noise_weight;
        for (int i = positives; i < count; ++i) coefficient[i] = noise_rate * sigmoid(coefficient[i]);
        Row<NV> step(t.width);
        step.zero();
        for (int i = 0; i < count; ++i) {
            float *h = t.feature_table + std::int64_t(ids[i]) * t.width;
            step.add(coefficient[i], h);
            if (t.touches) {
                g.add_to(coefficient[i], h);
                ++t.touches[ids[i]];
            }
        }
        for (int i = 0; i < g.size(); ++i) g.v[i] += step.v[i];
    }

    // Trains the positives collected so far. Noise is drawn, and its rows fetched, for all batches first.
    template <int NV> void flush(Row<NV> &g, Random &random, const std::uint32_t *positives, int n) const {
        const Alias noise{t.noise_keep, t.noise_other};
        std::uint32_t ids[16 * hopscale::MAX_BATCH];
        int sizes[hopscale::MAX_BATCH], batches = 0, filled = 0;
        for (int first = 0; first < n; first += t.batch) {
            const int m = n - first < t.batch ? n - first : t.batch;
            const int k = m == t.batch ? t.shared : (t.shared * m + t.batch - 1) / t.batch;
            for (int i = 0; i < m; ++i) ids[filled++] = positives[first + i];
            for (int i = 0; i < k; ++i) {
                const std::uint32_t f = noise.draw(random, t.n_features);
                prefetch_row(t.feature_table + std::int64_t(f) * t.width, t.width);
                ids[filled++] = f;
            }
            sizes[batches++] = m + k;
        }
        const std::uint32_t *next = ids;
        for (int b = 0; b < batches; ++b) {
            const int m = b + 1 < batches ? t.batch : n - t.batch * b;
            const int k = sizes[b] - m;
            update<NV>(g, next, m, sizes[b], k ? float(t.negatives) * m / k : 0.0f);
            next += sizes[b];
        }
    }

    template <int NV> hopscale::SkipGramResult run() const {
        const Graph graph{t.edge_offsets, t.neighbors, t.edge_keep, t.edge_other};
        const Features features{t.feature_offsets, t.feature_columns, t.feature_counts, t.feature_keep};
        const int capacity = t.batch < 8 ? 8 / t.batch * t.batch : t.batch;
        hopscale::SkipGramResult result{0, -1};
        for (std::int64_t i = 0; i < t.n_nodes && !*t.stop; ++i) {
            const std::int32_t v = t.nodes[i];
            if (t.visits[i] == 0) continue;
            Random random(t.seed, t.scale, t.round, std::uint64_t(v));
            Row<NV> g(t.width);
            g.read(t.node_table + std::int64_t(v) * t.width);
            std::uint32_t positives[hopscale::MAX_BATCH];
            int n = 0;
            for (std::int64_t visit = 0; visit < t.visits[i]; ++visit) {
                std::int32_t u = v;
                for (std::uint32_t hops = t.hops; hops; ) {
                    if (hops & 1u) {
                        for (std::int64_t e = t.feature_offsets[u]; e < t.feature_offsets[u + 1]; ++e) {
                            for (std::uint32_t times = features.times(random, e); times; --times) {
                                const std::uint32_t f = std::uint32_t(t.feature_columns[e]);
                                prefetch_row(t.feature_table + std::int64_t(f) * t.width, t.width);
                                positives[n++] = f;
                                ++result.pairs;
                                if (n == capacity) {
                                    flush<NV>(g, random, positives, n);
                                    n = 0;
                                }
                            }
                        }
                    }
                    hops >>= 1;
                    if (hops) u = graph.step(random, u);
                }
            }
            if (n) flush<NV>(g, random, positives, n);
            g.write(t.node_table + std::int64_t(v) * t.width);
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

hopscale::SkipGramResult train(const hopscale::SkipGram &task) { return with_registers(task.width, Train{task}); }

}  // namespace
