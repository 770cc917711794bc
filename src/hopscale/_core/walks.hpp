// Counter-based randomness, alias draws, and steps of a random walk.
// In an unnamed namespace, because each instruction set's object file must keep its own copy.
#pragma once
#include "structs.hpp"

namespace hopscale {
namespace {

inline uint64_t mix(uint64_t z) {  // the finaliser of splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// A stream of its own for every (seed, scale, round, node): what is drawn for a node never depends on the thread that
// draws it, or on what was drawn for other nodes.
struct Random {
    uint64_t state;
    Random(uint64_t seed, uint64_t scale, uint64_t round, uint64_t node) {
        state = mix(seed + 0x9e3779b97f4a7c15ull);
        state = mix(state ^ (scale + 0xd1b54a32d192ed03ull));
        state = mix(state ^ (round + 0x8cb92ba72f3d8dd7ull));
        state = mix(state ^ (node + 0xabc98388fb8fac03ull));
    }
    uint64_t next() { return mix(state += 0x9e3779b97f4a7c15ull); }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }
    float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
};

// The feature that a number stands for.
inline uint32_t feature_at(const Noise &noise, uint32_t x) {
    uint32_t i = noise.guide[x >> noise.shift];
    while (x > noise.last[i]) ++i;
    return noise.feature[i];
}

// A draw from an alias table of n entries: one number, one comparison.
inline uint32_t draw(Random &random, const float *keep, const int32_t *other, uint32_t n) {
    uint64_t bits = random.next();
    uint32_t i = static_cast<uint32_t>(((bits >> 32) * n) >> 32);
    float u = static_cast<float>(bits & 0xffffff) * 0x1p-24f;
    // Without a branch: which of the two it is cannot be predicted.
    const uint32_t j = static_cast<uint32_t>(other[i]), take = 0u - uint32_t(u < keep[i]);
    return j ^ ((i ^ j) & take);
}

// One step from v, which must have an edge.
inline int32_t step(const Graph &graph, Random &random, int32_t v) {
    const int64_t begin = graph.offsets[v];
    const uint32_t degree = static_cast<uint32_t>(graph.offsets[v + 1] - begin);
    return graph.neighbors[begin + (graph.keep ? draw(random, graph.keep + begin, graph.other + begin, degree)
                                               : random.below(degree))];
}

inline bool second_order(const Graph &graph) { return graph.back != 1.0f || graph.away != 1.0f; }

// Whether u and v are neighbours.
inline bool joined(const Graph &graph, int32_t u, int32_t v) {
    int64_t begin = graph.offsets[u], end = graph.offsets[u + 1];
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (graph.neighbors[middle] == v) return true;
        if (graph.neighbors[middle] < v) begin = middle + 1;
        else end = middle;
    }
    return false;
}

// What an edge to u counts on a walk from `last`.
inline float bias(const Graph &graph, int32_t last, int32_t u) {
    return u == last ? graph.back : joined(graph, last, u) ? 1.0f : graph.away;
}

// Calls f(neighbour, share) for every share of v's edges in its alias table, until f says to stop.
template <typename F> void each_share(const Graph &graph, int32_t v, F &&f) {
    const int64_t begin = graph.offsets[v];
    for (int64_t e = begin; e < graph.offsets[v + 1]; ++e) {
        if (!f(graph.neighbors[e], graph.keep ? graph.keep[e] : 1.0f)) return;
        if (graph.keep && !f(graph.neighbors[begin + graph.other[e]], 1.0f - graph.keep[e])) return;
    }
}

constexpr int TRIES = 64;  // of a biased step, before all edges are looked at

// One step from v, come from `last`: an edge counts `back` times as much if it returns, `away` times if it leads to
// where `last` has no edge. By rejection: no table for each pair of edges, and few tries as a rule. Where p or q is
// extreme and what they favour is rare, one pass over the edges ends it. Not inlined: it is large, and would take
// registers from the loops that call it.
[[gnu::noinline]] int32_t step(const Graph &graph, Random &random, int32_t last, int32_t v) {
    const float larger = graph.back > graph.away ? graph.back : graph.away, most = larger > 1.0f ? larger : 1.0f;
    for (int tries = 0; tries < TRIES; ++tries) {
        const int32_t u = step(graph, random, v);
        if (random.uniform() * most < bias(graph, last, u)) return u;
    }
    double total = 0.0;
    each_share(graph, v, [&](int32_t u, float share) {
        total += share * bias(graph, last, u);
        return true;
    });
    double left = random.uniform() * total;
    int32_t chosen = v;
    each_share(graph, v, [&](int32_t u, float share) {
        if (share > 0) chosen = u;
        left -= share * bias(graph, last, u);
        return left >= 0;
    });
    return chosen;
}

// The same, in place: `last` becomes where the walk was.
inline void advance(const Graph &graph, Random &random, int32_t &last, int32_t &at) {
    const int32_t next = step(graph, random, last, at);
    last = at;
    at = next;
}

// Number of hops in a set of them.
inline int bits(uint32_t mask) {
    int count = 0;
    for (; mask; mask &= mask - 1) ++count;
    return count;
}

}  // namespace
}  // namespace hopscale
