// Skip-gram with negative sampling on the (node, feature) pairs of random walks, never storing a pair.
//
// A visit of node v walks from v and takes every feature of the nodes it reaches as a positive of v. Walks are
// reversible, so this has the pair statistics of both directions of the paper's algorithms. A node's row stays in
// registers for all its visits.
#pragma once
#include "matrix.hpp"
#include "walks.hpp"

namespace hopscale {
namespace {

constexpr int AT_ONCE = 8;    // positives whose noise is drawn, and whose rows are fetched, ahead of their use
constexpr int VISITS = 8;     // whose walks are taken together: one waits for memory while another goes on
constexpr int MAX_HOPS = 32;  // bits of SkipGram::hops
constexpr int SIGMOIDS = 16;  // evaluated together, as one vector
constexpr int MAX_ROWS = 2 * MAX_BATCH;

struct Train {
    const SkipGram model;
    const Round round;

    template <int NV> int64_t at(int64_t row) const { return row * (NV ? NV * PAD : round.width); }

    // Count an update of a feature; the first one copies its row.
    template <int NV> void touch(uint32_t f) const {
        if (round.touches[f]++) return;
        Row<NV> row(round.width);
        row.read(round.feature_vectors + at<NV>(f));
        row.write(round.own + at<NV>(f));
    }

    // Fetch the row that will be read first: the shared one, as long as there is no copy.
    template <int NV> void fetch(uint32_t f) const {
        const float *table = round.own && round.touches[f] ? round.own : round.feature_vectors;
        prefetch_row<NV>(table + at<NV>(f), round.width);
    }

    // One step on `positives` true and `count - positives` noise features that all meet the same node row.
    template <int NV>
    void update(Row<NV> &node, const uint32_t *ids, int positives, int count, float noise_weight) const {
        const Row<NV> g = node;  // of our own: no store to a feature can change it, so it stays in registers
        const bool learn = round.own;
        // Frozen vectors are never written to.
        float *const table = learn ? round.own : const_cast<float *>(round.feature_vectors);
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
                x[k] = round.learning_rate * weight * (label - sigmoid(x[k]));
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
    template <int NV> void flush(Row<NV> &g, Random &random, const uint32_t *positives, int n) const {
        const uint32_t spacing = uint32_t((uint64_t(1) << 32) / uint64_t(model.shared));
        uint32_t ids[AT_ONCE * (MAX_BATCH + 1)];
        int filled = 0;
        for (int first = 0; first < n; first += model.batch) {
            const int m = n - first < model.batch ? n - first : model.batch;
            for (int i = 0; i < m; ++i) ids[filled++] = positives[first + i];
            uint32_t point = uint32_t(random.next() >> 32);
            for (int i = 0; i < model.shared; ++i, point += spacing) {
                const uint32_t f = feature_at(model.noise, point);
                fetch<NV>(f);
                ids[filled++] = f;
            }
        }
        if (round.own)
            for (int i = 0; i < filled; ++i) touch<NV>(ids[i]);
        const uint32_t *next = ids;
        for (int first = 0; first < n; first += model.batch) {
            const int m = n - first < model.batch ? n - first : model.batch;
            update<NV>(g, next, m, m + model.shared, float(model.negatives) * m / model.shared);
            next += m + model.shared;
        }
    }

    // Nodes that `count` walks from v reach at the hops that are wanted, walk by walk; returns how many that is each.
    int walk(Random &random, int32_t v, int count, int32_t *reached) const {
        const int wanted = bits(model.hops);
        int32_t at[VISITS], last[VISITS];
        for (int k = 0; k < count; ++k) at[k] = v;
        // The walk that comes by: from any neighbour.
        if (second_order(model.graph) && model.hops > 1)
            for (int k = 0; k < count; ++k) last[k] = step(model.graph, random, v);
        int seen = 0;
        for (uint32_t hops = model.hops; hops;) {
            if (hops & 1u) {
                for (int k = 0; k < count; ++k) {
                    HOPSCALE_PREFETCH(model.features.offsets + at[k]);
                    reached[k * wanted + seen] = at[k];
                }
                ++seen;
            }
            hops >>= 1;
            if (hops && second_order(model.graph))
                for (int k = 0; k < count; ++k) advance(model.graph, random, last[k], at[k]);
            else if (hops)
                for (int k = 0; k < count; ++k) at[k] = step(model.graph, random, at[k]);
        }
        return wanted;
    }

    // Number of times an entry of the features is used at this visit: its expectation is counts[entry]·keep[feature].
    uint32_t uses(Random &random, int64_t entry) const {
        float expected = model.counts ? model.counts[entry] : 1.0f;
        if (model.keep) expected *= model.keep[model.features.columns[entry]];
        if (expected == 1.0f) return 1;
        return static_cast<uint32_t>(expected + random.uniform());
    }

    template <int NV> RoundResult run() const {
        const int capacity = model.batch < AT_ONCE ? AT_ONCE / model.batch * model.batch : model.batch;
        RoundResult result{0, -1};
        for (int64_t i = 0; i < round.n_nodes && !*round.stop; ++i) {
            const int32_t v = round.nodes[i];
            if (round.visits[i] == 0) continue;
            if (i + 1 < round.n_nodes) {
                prefetch_row<NV>(round.node_vectors + at<NV>(round.nodes[i + 1]), round.width);
                HOPSCALE_PREFETCH(model.graph.offsets + round.nodes[i + 1]);
            }
            Random random(model.seed, model.scale, round.number, uint64_t(v));
            Row<NV> g(round.width);
            g.read(round.node_vectors + at<NV>(v));
            uint32_t positives[MAX_BATCH];
            int n = 0;
            for (int64_t left = round.visits[i]; left > 0 && !*round.stop; left -= VISITS) {
                const int together = left < VISITS ? int(left) : VISITS;
                int32_t reached[VISITS * MAX_HOPS];
                const int hops = walk(random, v, together, reached);
                for (int k = 0; k < together * hops; ++k)
                    HOPSCALE_PREFETCH(model.features.columns + model.features.offsets[reached[k]]);
                for (int k = 0; k < together * hops; ++k) {
                    const int32_t u = reached[k];
                    for (int64_t e = model.features.offsets[u]; e < model.features.offsets[u + 1]; ++e)
                        for (uint32_t times = uses(random, e); times; --times) {
                            const uint32_t f = uint32_t(model.features.columns[e]);
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
            if (n) flush<NV>(g, random, positives, n);
            g.write(round.node_vectors + at<NV>(v));
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

void accumulate(const float *own, const uint32_t *count, int64_t rows, int width, float *total) {
    for (int64_t i = 0; i < rows; ++i) {
        if (!count[i]) continue;
        const float weight = float(count[i]);
        for (int64_t k = i * width; k < (i + 1) * width; ++k) total[k] += weight * own[k];
    }
}

RoundResult train(const SkipGram &model, const Round &round) {
    const Train task{model, round};
    return with_registers(round.width, [&](auto registers) { return task.run<decltype(registers)::value>(); });
}

}  // namespace
}  // namespace hopscale
