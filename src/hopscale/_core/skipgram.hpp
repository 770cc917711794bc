// Skip-gram with negative sampling on the (node, feature) pairs of random walks, never storing a pair.
//
// A visit of node v walks from v and takes every feature of the nodes it reaches as a positive of v. Walks are
// reversible, so this has the pair statistics of both directions of the paper's algorithms.
//
// A round is a pipeline, because every row is a cache miss on a large graph: walks of many visits take a step together,
// each fetching what the next step needs; the features that they meet become batches, which fetch their rows; and a
// batch is used when the rows have arrived.
#pragma once
#include "matrix.hpp"
#include "walks.hpp"

namespace hopscale {
namespace {

constexpr int VISITS = 8;       // of a node that share a stream of random numbers
constexpr int WALKS = 64;       // that take their steps together
constexpr int RING = 8;         // batches that wait for their rows, and the one that is being made
constexpr int ROWS_AHEAD = 72;  // rows that are fetched before the first of them is used
constexpr int POINTS = 4;       // batches whose noise is drawn ahead, and room for one more
constexpr int MAX_HOPS = 32;    // bits of SkipGram::hops
constexpr int SIGMOIDS = 16;    // evaluated together, as one vector
constexpr int MAX_ROWS = 2 * MAX_BATCH;

// 0, 1, 2, ...: a comparison with these, not with the loop's counter, does not split a loop in two.
struct Numbers {
    alignas(64) float at[MAX_ROWS]{};
    constexpr Numbers() {
        for (int i = 0; i < MAX_ROWS; ++i) at[i] = float(i);
    }
};
constexpr Numbers NUMBERS;

// Some visits of a node, whose walks have a stream of random numbers of their own.
struct Visits {
    int32_t node;
    int32_t row;  // of its vector
    int count;
    Random random;
};

// Positives of a node, and after them the noise that they share.
struct Batch {
    int32_t row;  // of the node's vector
    int positives;
    uint32_t ids[MAX_ROWS];
};

template <int NV> class Training {
public:
    Training(const SkipGram &model, const Round &round)
        : model(model),
          round(round),
          start(Random::start(model.seed, model.scale, round.number)),
          lag(std::min(RING - 1, std::max(1, ROWS_AHEAD / (model.batch + model.shared)))) {
        ring[0].positives = 0;
    }

    RoundResult run() {
        copy_features();
        if (!round.n_nodes) return result;
        noise = Random(start, uint64_t(round.nodes[0]), ~uint64_t(0));
        for (int i = 0; i < 2; ++i) draw_points(points[i]);
        Visits visits[WALKS];
        int waiting = 0, walks = 0;
        for (int64_t i = 0; i < round.n_nodes && !*round.stop; ++i)
            for (int64_t left = round.visits[i], part = 0; left > 0; left -= VISITS, ++part) {
                const int count = left < VISITS ? int(left) : VISITS;
                if (walks + count > WALKS) {
                    visit(visits, waiting, walks);
                    waiting = walks = 0;
                    if (*round.stop || result.not_finite >= 0) return result;
                }
                HOPSCALE_PREFETCH(model.graph.offsets + round.nodes[i]);
                visits[waiting++] = {round.nodes[i], int32_t(i), count,
                                     Random(start, uint64_t(round.nodes[i]), uint64_t(part))};
                walks += count;
            }
        visit(visits, waiting, walks);
        close();
        while (counted < made) count_updates();
        while (used < made) use();
        return result;
    }

private:
    const SkipGram model;
    const Round round;
    const uint64_t start;
    const int lag;  // batches between one that is used and the one that is being made
    bool copied = false;
    RoundResult result{0, -1};
    Batch ring[RING];
    int64_t made = 0, counted = 0, used = 0;
    Random noise;
    uint32_t points[POINTS][MAX_BATCH];  // of the noise of three batches

    int64_t at(int64_t row) const { return row * (NV ? NV * PAD : round.width); }

    // Walks.

    // The nodes that the walks of some visits reach, and the features that these have.
    void visit(Visits *visits, int n, int walks) {
        int32_t at[WALKS], last[WALKS], reached[WALKS * MAX_HOPS];
        each_walk(visits, n, [&](Visits &from, int k) { at[k] = from.node; });
        // The walk that comes by: from any neighbour.
        if (second_order(model.graph) && model.hops > 1)
            each_walk(visits, n, [&](Visits &from, int k) { last[k] = step(model.graph, from.random, at[k]); });
        const int wanted = bits(model.hops);
        int seen = 0;
        for (uint32_t hops = model.hops;;) {
            if (hops & 1u) {
                for (int k = 0; k < walks; ++k) {
                    HOPSCALE_PREFETCH(model.features.offsets + at[k]);
                    reached[k * wanted + seen] = at[k];
                }
                ++seen;
            }
            if (!(hops >>= 1)) break;
            step_all(visits, n, last, at);
        }
        for (int k = 0; k < walks * wanted; ++k) {
            const int32_t *columns = model.features.columns + model.features.offsets[reached[k]];
            HOPSCALE_PREFETCH(columns);
            HOPSCALE_PREFETCH(columns + PAD);
        }
        const int32_t *u = reached;
        for (int i = 0; i < n; ++i) {
            begin(visits[i].row);
            for (const int32_t *end = u + visits[i].count * wanted; u < end; ++u) see(visits[i].random, *u);
        }
    }

    template <typename F> static void each_walk(Visits *visits, int n, F &&f) {
        for (int i = 0, k = 0; i < n; ++i)
            for (int j = 0; j < visits[i].count; ++j, ++k) f(visits[i], k);
    }

    void step_all(Visits *visits, int n, int32_t *last, int32_t *at) const {
        const Graph &graph = model.graph;
        const int32_t *next[WALKS];
        if (second_order(graph)) {
            each_walk(visits, n, [&](Visits &from, int k) { advance(graph, from.random, last[k], at[k]); });
            return;
        }
        each_walk(visits, n, [&](Visits &from, int k) {
            next[k] = graph.neighbors + step_edge(graph, from.random, at[k]);
            HOPSCALE_PREFETCH(next[k]);
        });
        each_walk(visits, n, [&](Visits &, int k) {
            at[k] = *next[k];
            HOPSCALE_PREFETCH(graph.offsets + at[k]);
        });
    }

    // Positives: the features of a node that a walk has reached.
    void see(Random &random, int32_t u) {
        const int64_t first = model.features.offsets[u], last = model.features.offsets[u + 1];
        if (!model.counts && !model.keep) return add(model.features.columns + first, last - first);
        for (int64_t e = first; e < last; ++e)
            for (uint32_t times = uses(random, e); times; --times) add(model.features.columns + e, 1);
    }

    // Number of times an entry of the features is used at this visit: its expectation is counts[entry]·keep[feature].
    uint32_t uses(Random &random, int64_t entry) const {
        float expected = model.counts ? model.counts[entry] : 1.0f;
        if (model.keep) expected *= model.keep[model.features.columns[entry]];
        if (expected == 1.0f) return 1;
        return static_cast<uint32_t>(expected + random.uniform());
    }

    // Batches.

    void begin(int32_t row) {
        if (ring[made % RING].positives && ring[made % RING].row != row) close();
        ring[made % RING].row = row;
        prefetch_row<NV>(round.node_vectors + at(row), round.width);
    }

    void add(const int32_t *features, int64_t count) {
        result.pairs += count;
        while (count) {
            Batch &batch = ring[made % RING];
            const int first = batch.positives, n = int(std::min<int64_t>(count, model.batch - first));
            for (int i = 0; i < n; ++i) {
                const auto f = uint32_t(features[i]);
                fetch(f);
                batch.ids[first + i] = f;
            }
            batch.positives += n;
            features += n;
            count -= n;
            if (batch.positives == model.batch) close();
        }
    }

    // A batch gets its noise, and the next one is begun; with it those that have waited long enough go on.
    void close() {
        Batch &batch = ring[made % RING], &next = ring[(made + 1) % RING];
        if (!batch.positives) return;
        draw_noise(batch.ids + batch.positives);
        ++made;
        if (made - counted > lag / 2) count_updates();
        if (made - used > lag) use();
        next.row = batch.row;
        next.positives = 0;
    }

    // Noise of the batch that is being made: a systematic sample, evenly spaced points with one random offset. Each
    // point is distributed as a single draw would be, but the sample as a whole is close to the distribution, so that
    // few noise features can stand for many. The points of the next two batches are drawn already, and what looking
    // them up takes is fetched.
    void draw_noise(uint32_t *out) {
        draw_points(points[(made + 2) % POINTS]);
        fetch_positions(points[(made + 1) % POINTS]);
        const uint32_t *point = points[made % POINTS];
        for (int i = 0; i < model.shared; ++i) fetch(out[i] = feature_at(model.noise, point[i]));
    }

    void draw_points(uint32_t *out) {
        const auto spacing = uint32_t((uint64_t(1) << 32) / uint64_t(model.shared));
        auto point = uint32_t(noise.next() >> 32);
        for (int i = 0; i < model.shared; ++i, point += spacing) {
            out[i] = point;
            HOPSCALE_PREFETCH(model.noise.guide + (point >> model.noise.shift));
        }
    }

    void fetch_positions(const uint32_t *point) const {
        for (int i = 0; i < model.shared; ++i) {
            const uint32_t first = model.noise.guide[point[i] >> model.noise.shift];
            HOPSCALE_PREFETCH(model.noise.last + first);
            HOPSCALE_PREFETCH(model.noise.feature + first);
        }
    }

    // Rows of features.

    // Where a good part of the rows is going to be updated, all are copied: in one go that is faster than row by row.
    void copy_features() {
        if (!round.own) return;
        double visits = 0;
        for (int64_t i = 0; i < round.n_nodes; ++i) visits += double(round.visits[i]);
        const double entries = double(model.features.offsets[model.features.n_rows]) / double(model.features.n_rows);
        const double pairs = visits * bits(model.hops) * entries;
        const int64_t q = model.features.n_columns;
        copied = 4 * pairs * (model.batch + model.shared) > double(q) * model.batch;
        if (copied) std::memcpy(round.own, round.feature_vectors, sizeof(float) * size_t(at(q)));
    }

    void fetch(uint32_t f) const {
        if (round.own) HOPSCALE_PREFETCH(round.touches + f);
        prefetch_row<NV>((round.own ? round.own : round.feature_vectors) + at(f), round.width);
    }

    void count_updates() {
        const Batch &batch = ring[counted++ % RING];
        if (round.own)
            for (int i = 0; i < batch.positives + model.shared; ++i) touch(batch.ids[i]);
    }

    // Count an update of a feature; the first one copies its row.
    void touch(uint32_t f) const {
        if (round.touches[f]++ || copied) return;
        Row<NV> row(round.width);
        row.read(round.feature_vectors + at(f));
        row.write(round.own + at(f));
    }

    // Training.

    void use() {
        const Batch &batch = ring[used++ % RING];
        float *const row = round.node_vectors + at(batch.row);
        Row<NV> g(round.width);
        g.read(row);
        update(g, batch, float(model.negatives) * float(batch.positives) / float(model.shared));
        g.write(row);
        Floats total = g.v[0];
        for (int k = 1; k < g.size(); ++k) total += g.v[k];
        if (!(std::fabs(sum(total)) < 1e30f) && result.not_finite < 0) result.not_finite = round.nodes[batch.row];
    }

    // One step on the true and the noise features of a batch, all of which meet the same node row.
    void update(Row<NV> &node, const Batch &batch, float noise_weight) const {
        const Row<NV> g = node;  // of our own: no store to a feature can change it, so it stays in registers
        const bool learn = round.own;
        const int count = batch.positives + model.shared;
        // Frozen vectors are never written to.
        float *const table = learn ? round.own : const_cast<float *>(round.feature_vectors);
        const auto feature = [&](int i) { return table + at(batch.ids[i]); };
        alignas(64) float x[MAX_ROWS];
        int i = 0;
        for (; i + 4 <= count; i += 4)
            sum4(g.times(feature(i)), g.times(feature(i + 1)), g.times(feature(i + 2)), g.times(feature(i + 3)), x + i);
        for (; i < count; ++i) x[i] = sum(g.times(feature(i)));
        for (; i % SIGMOIDS; ++i) x[i] = 0.0f;
        const float rate = round.learning_rate, noise_rate = -noise_weight * rate, first_noise = float(batch.positives);
        for (i = 0; i < count; i += SIGMOIDS)
            for (int k = i; k < i + SIGMOIDS; ++k) {
                const bool is_noise = NUMBERS.at[k] >= first_noise;
                x[k] = (is_noise ? noise_rate : rate) * sigmoid(is_noise ? x[k] : -x[k]);  // 1 - σ(x) = σ(-x)
            }
        Row<NV> step = g;
        if (learn)
            for (i = 0; i < count; ++i) g.exchange(x[i], feature(i), step);
        else
            for (i = 0; i < count; ++i) step.add(x[i], feature(i));
        node = step;
    }
};

void average(const Copy *copies, int64_t count, bool first, const float *before, float *total, int64_t *updates,
             int width, int64_t begin, int64_t end) {
    with_registers(width, [=](auto registers) {
        constexpr int NV = registers;
        Row<NV> row(width);
        for (int64_t i = begin; i < end; ++i) {
            const int64_t at = i * width;
            int64_t seen = first ? 0 : updates[i];
            if (first) row.zero();
            else row.read(total + at);
            for (const Copy *copy = copies; copy < copies + count; ++copy) {
                const uint32_t touches = copy->touches[i];
                if (touches) row.add(float(touches), copy->own + at);
                seen += touches;
            }
            const auto share = float(1.0 / double(seen));
            if (before && seen > 0)
                for (int k = 0; k < row.size(); ++k) row.v[k] = share * row.v[k];
            else if (before) row.read(before + at);
            row.write(total + at);
            updates[i] = seen;
        }
    });
}

RoundResult train(const SkipGram &model, const Round &round) {
    return with_registers(round.width,
                          [&](auto registers) { return Training<decltype(registers)::value>(model, round).run(); });
}

}  // namespace
}  // namespace hopscale
