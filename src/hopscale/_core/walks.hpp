// Counter-based randomness, alias draws, and steps of a random walk.
#pragma once
#include <algorithm>
#include <cstdint>

namespace {

inline std::uint64_t mix(std::uint64_t z) {  // the finaliser of splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// A stream of its own for every (seed, scale, round, node): what is drawn for a node never depends
// on which thread draws it, or on what was drawn for other nodes.
struct Random {
    std::uint64_t state;
    Random(std::uint64_t seed, std::uint64_t scale, std::uint64_t round, std::uint64_t node) {
        state = mix(seed + 0x9e3779b97f4a7c15ull);
        state = mix(state ^ (scale + 0xd1b54a32d192ed03ull));
        state = mix(state ^ (round + 0x8cb92ba72f3d8dd7ull));
        state = mix(state ^ (node + 0xabc98388fb8fac03ull));
    }
    std::uint64_t next() { return mix(state += 0x9e3779b97f4a7c15ull); }
    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
    }
    float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
};

// Alias table: one draw of a number, one comparison.
struct Alias {
    const float *keep;
    const std::int32_t *other;
    std::uint32_t draw(Random &random, std::uint32_t n) const {
        std::uint64_t bits = random.next();
        std::uint32_t i = static_cast<std::uint32_t>(((bits >> 32) * n) >> 32);
        float u = static_cast<float>(bits & 0xffffff) * 0x1p-24f;
        // Without a branch: which of the two it is cannot be predicted.
        const std::uint32_t j = static_cast<std::uint32_t>(other[i]), take = 0u - std::uint32_t(u < keep[i]);
        return j ^ ((i ^ j) & take);
    }
};

// Features in order of falling probability share out the numbers 0..2³²-1: the one at position i has those up
// to last[i]. A guide names the first position to look at, by a number's leading bits.
struct Noise {
    const std::uint32_t *last;
    const std::uint32_t *feature;
    const std::uint32_t *guide;
    int shift;
    std::uint32_t at(std::uint32_t x) const {
        std::uint32_t i = guide[x >> shift];
        while (x > last[i]) ++i;
        return feature[i];
    }
};

constexpr int TRIES = 64;  // of a biased step, before all edges are looked at

struct Graph {
    const std::int64_t *offsets;
    const std::int32_t *neighbors;
    const float *keep;          // alias table of each node's edges; null where all weigh the same
    const std::int32_t *other;
    float back, away;           // node2vec's 1/p and 1/q; 1 and 1 walk as if there was no way back

    // One step from v; v must have an edge.
    std::int32_t step(Random &random, std::int32_t v) const {
        std::int64_t begin = offsets[v];
        std::uint32_t degree = static_cast<std::uint32_t>(offsets[v + 1] - begin);
        std::uint32_t i = keep ? Alias{keep + begin, other + begin}.draw(random, degree) : random.below(degree);
        return neighbors[begin + i];
    }

    bool second_order() const { return back != 1.0f || away != 1.0f; }

    // Whether u and v are neighbours; lists of neighbours rise.
    bool joined(std::int32_t u, std::int32_t v) const {
        return std::binary_search(neighbors + offsets[u], neighbors + offsets[u + 1], v);
    }

    // What an edge to u counts on a walk from `last`.
    float bias(std::int32_t last, std::int32_t u) const { return u == last ? back : joined(last, u) ? 1.0f : away; }

    // One step from v, come from `last`: an edge counts `back` times as much if it returns, `away` times if it leads
    // to where `last` has no edge. By rejection: no table for each pair of edges, and few tries as a rule. Where p or q
    // is extreme and what they favour is rare, one pass over the edges ends it.
    std::int32_t step(Random &random, std::int32_t last, std::int32_t v) const {
        const float most = std::max(1.0f, std::max(back, away));
        for (int tries = 0; tries < TRIES; ++tries) {
            const std::int32_t u = step(random, v);
            if (random.uniform() * most < bias(last, u)) return u;
        }
        double total = 0.0;
        each_share(v, [&](std::int32_t u, float share) { total += share * bias(last, u); return true; });
        double left = random.uniform() * total;
        std::int32_t chosen = v;
        each_share(v, [&](std::int32_t u, float share) {
            if (share > 0) chosen = u;
            left -= share * bias(last, u);
            return left >= 0;
        });
        return chosen;
    }

    // Calls f(neighbour, share) for every share of v's edges in its alias table, until f says to stop.
    template <typename F> void each_share(std::int32_t v, F &&f) const {
        const std::int64_t begin = offsets[v];
        for (std::int64_t e = begin; e < offsets[v + 1]; ++e) {
            if (!f(neighbors[e], keep ? keep[e] : 1.0f)) return;
            if (keep && !f(neighbors[begin + other[e]], 1.0f - keep[e])) return;
        }
    }
};

struct Features {
    const std::int64_t *offsets;
    const std::int32_t *columns;
    const float *counts;        // expected number of times a feature is seen at a visit; null: once each
    const float *keep;          // probability of keeping a feature (sub-sampling); null: always

    // Number of times entry i is used at this visit: its expectation is counts[i]·keep[feature].
    std::uint32_t times(Random &random, std::int64_t i) const {
        float expected = counts ? counts[i] : 1.0f;
        if (keep) expected *= keep[columns[i]];
        if (expected == 1.0f) return 1;
        return static_cast<std::uint32_t>(expected + random.uniform());
    }
};

}  // namespace
