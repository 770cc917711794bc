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
constexpr int SIGMOIDS = 16;    // evaluated together, as one vector
constexpr int MAX_ROWS = 2 * hopscale::MAX_BATCH;

struct Train {
    const hopscale::SkipGram t;

    float *feature(std::uint32_t f) const { return t.feature_table + std::int64_t(f) * t.width; }

    // One step on `positives` true and `count - positives` noise features that all meet the same node row.
    template <int NV>
    void update(Row<NV> &g, const std::uint32_t *ids, int positives, int count, float noise_weight) const {
        alignas(64) float x[MAX_ROWS];
        for (int i = 0; i < count; ++i) x[i] = g.dot(feature(ids[i]));
        for (int i = count; i % SIGMOIDS; ++i) x[i] = 0.0f;
        // Weighted steps are implicit ones, to first order: a step of weight w ends where w small ones would.
        const float curvature = g.squared();
        for (int i = 0; i < count; i += SIGMOIDS)
            for (int k = i; k < i + SIGMOIDS; ++k) {
                const float label = k < positives ? 1.0f : 0.0f;
                const float rate = t.learning_rate * (k < positives ? 1.0f : noise_weight);
                const float p = sigmoid(x[k]);
                x[k] = rate * (label - p) / (1.0f + rate * p * (1.0f - p) * curvature);
            }
        Row<NV> step(t.width);
        step.zero();
        for (int i = 0; i < count; ++i) {
            float *h = feature(ids[i]);
            step.add(x[i], h);
            if (t.touches) g.add_to(x[i], h);
        }
        for (int i = 0; i < g.size(); ++i) g.v[i] += step.v[i];
    }

    // Trains the positives collected so far, batch by batch.
    template <int NV> void flush(Row<NV> &g, Random &random, const std::uint32_t *positives, int n) const {
        const Alias noise{t.noise_keep, t.noise_other};
        std::uint32_t ids[AT_ONCE * (hopscale::MAX_BATCH + 1)];
        int filled = 0;
        for (int first = 0; first < n; first += t.batch) {
            const int m = n - first < t.batch ? n - first : t.batch;
            for (int i = 0; i < m; ++i) ids[filled++] = positives[first + i];
            for (int i = noise_rows(m); i; --i) {
                const std::uint32_t f = noise.draw(random, t.n_features);
                prefetch_row<NV>(feature(f), t.width);
                ids[filled++] = f;
            }
        }
        const std::uint32_t *next = ids;
        for (int first = 0; first < n; first += t.batch) {
            const int m = n - first < t.batch ? n - first : t.batch, k = noise_rows(m);
            update<NV>(g, next, m, m + k, k ? float(t.negatives) * m / k : 0.0f);
            next += m + k;
        }
        if (t.touches)
            for (int i = 0; i < filled; ++i) ++t.touches[ids[i]];
    }

    // Noise features for m positives: `shared` for a full batch, in proportion for the last one.
    int noise_rows(int m) const { return m == t.batch ? t.shared : (t.shared * m + t.batch - 1) / t.batch; }

    template <int NV> hopscale::SkipGramResult run() const {
        const Graph graph{t.edge_offsets, t.neighbors, t.edge_keep, t.edge_other};
        const Features features{t.feature_offsets, t.feature_columns, t.feature_counts, t.feature_keep};
        const int capacity = t.batch < AT_ONCE ? AT_ONCE / t.batch * t.batch : t.batch;
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
                                prefetch_row<NV>(feature(f), t.width);
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
