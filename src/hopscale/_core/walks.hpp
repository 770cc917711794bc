// Counter-based randomness, alias draws, and steps of a random walk.
// In an unnamed namespace, because each instruction set's object file must keep its own copy.
#pragma once
#include <algorithm>

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
    uint64_t state = 0;
    Random() = default;
    // What all streams of a round have in common.
    static uint64_t start(uint64_t seed, uint64_t scale, uint64_t round) {
        const uint64_t state = mix(seed + 0x9e3779b97f4a7c15ull);
        return mix(mix(state ^ (scale + 0xd1b54a32d192ed03ull)) ^ (round + 0x8cb92ba72f3d8dd7ull));
    }
    Random(uint64_t seed, uint64_t scale, uint64_t round, uint64_t node)
        : state(mix(start(seed, scale, round) ^ (node + 0xabc98388fb8fac03ull))) {}
    // Several streams of a node.
    Random(uint64_t start, uint64_t node, uint64_t part)
        : state(mix(mix(start ^ (node + 0xabc98388fb8fac03ull)) ^ (part + 0x6a09e667f3bcc909ull))) {}
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

// The edge that a step from v takes, which must have one.
inline int64_t step_edge(const Graph &graph, Random &random, int32_t v) {
    const int64_t begin = graph.offsets[v];
    const uint32_t degree = static_cast<uint32_t>(graph.offsets[v + 1] - begin);
    return begin + (graph.keep ? draw(random, graph.keep + begin, graph.other + begin, degree) : random.below(degree));
}

inline int32_t step(const Graph &graph, Random &random, int32_t v) {
    return graph.neighbors[step_edge(graph, random, v)];
}

inline bool second_order(const Graph &graph) { return graph.back != 1.0f || graph.away != 1.0f; }

inline int64_t degree(const Graph &graph, int32_t v) { return graph.offsets[v + 1] - graph.offsets[v]; }

// The edge from u to v, or -1. Without a branch that depends on what is compared: it cannot be predicted.
inline int64_t edge(const Graph &graph, int32_t u, int32_t v) {
    const int32_t *at = graph.neighbors + graph.offsets[u];
    int64_t left = degree(graph, u);
    if (!left) return -1;
    while (left > 1) {
        const int64_t half = left / 2;
        at += at[half] <= v ? half : 0;
        left -= half;
    }
    return *at == v ? at - graph.neighbors : -1;
}

// Calls f(e) for the edges of v to neighbours of `last` other than `last`, until f says to stop. It goes through the
// shorter of the two lists: over all edges of a graph that is no more than its arboricity on average (Chiba and
// Nishizeki 1985).
template <typename F> void each_shared(const Graph &graph, int32_t last, int32_t v, F &&f) {
    const bool own = degree(graph, v) <= degree(graph, last);
    const int32_t from = own ? v : last, to = own ? last : v;
    for (int64_t e = graph.offsets[from]; e < graph.offsets[from + 1]; ++e) {
        const int32_t u = graph.neighbors[e];
        const int64_t found = u == last ? -1 : edge(graph, to, u);
        if (found >= 0 && !f(own ? e : found)) return;
    }
}

// One step from v, come from `last`, however rarely a try would be accepted: first whether it goes back, to a neighbour
// of `last` or away, then where.
[[gnu::noinline]] int32_t rare_step(const Graph &graph, Random &random, int32_t last, int32_t v) {
    const auto weight = [&](int64_t e) { return graph.weights ? double(graph.weights[e]) : 1.0; };
    const int64_t begin = graph.offsets[v], end = graph.offsets[v + 1], home = edge(graph, v, last);
    double shared = 0.0;
    int64_t others = end - begin - (home >= 0);
    each_shared(graph, last, v, [&](int64_t e) {
        shared += weight(e);
        --others;
        return true;
    });
    const double all = graph.weights ? 1.0 / graph.inverse_degrees[v] : double(end - begin);
    const double back = home >= 0 ? weight(home) : 0.0, away = others ? std::max(0.0, all - shared - back) : 0.0;
    double left = random.uniform() * (graph.back * back + shared + graph.away * away) - graph.back * back;
    if (left < 0) return last;
    int32_t chosen = last;
    if (left < shared) {
        each_shared(graph, last, v, [&](int64_t e) {
            chosen = graph.neighbors[e];
            left -= weight(e);
            return left >= 0;
        });
        return chosen;
    }
    // Away: few tries, unless most edges are shared, and then the list of `last` is as long as this one.
    const auto leads_away = [&](int32_t u) { return u != last && edge(graph, last, u) < 0; };
    for (int64_t tries = begin; tries < end; ++tries) {
        const int32_t u = step(graph, random, v);
        if (leads_away(u)) return u;
    }
    left = random.uniform() * away;
    for (int64_t e = begin; e < end && left >= 0; ++e)
        if (leads_away(graph.neighbors[e])) {
            chosen = graph.neighbors[e];
            left -= weight(e);
        }
    return chosen;
}

constexpr int TRIES = 64;              // of a biased step
constexpr float ORDINARY = 1.0f / 16;  // acceptance of the rarest kind of step, from which on so many tries are few

// One step from v, come from `last`: an edge counts `back` times as much if it returns, `away` times if it leads to
// where `last` has no edge. By rejection: no table for each pair of edges, and few tries as a rule. The one edge back
// would make tries fail that lead elsewhere, if it counts most: what it counts more than others is drawn apart from
// them. Whether `last` has an edge is looked up only where the answer matters. Where p or q is extreme, there are no
// more tries than edges to look at otherwise. Not inlined: it is large, and would take registers from the loops that
// call it.
[[gnu::noinline]] int32_t step(const Graph &graph, Random &random, int32_t last, int32_t v) {
    const float most = std::max(graph.away, 1.0f), least = std::min(graph.away, 1.0f);
    const float home = std::min(graph.back, most), surplus = graph.back - home;
    float above = most;  // and what is drawn between `most` and this is the surplus of the edge back
    if (surplus > 0.0f && !graph.weights) above += surplus / float(degree(graph, v));
    else if (surplus > 0.0f)
        if (const int64_t e = edge(graph, v, last); e >= 0)
            above += surplus * graph.weights[e] * graph.inverse_degrees[v];
    const int64_t edges = std::min(degree(graph, v), degree(graph, last));
    const int64_t limit = std::min(least, home) >= ORDINARY * most ? TRIES : std::min<int64_t>(TRIES, edges);
    for (int64_t tries = 0; tries < limit; ++tries) {
        const float x = random.uniform() * above;
        if (x >= most) return last;
        const int32_t u = step(graph, random, v);
        if (u == last ? x < home : x < least || x < (edge(graph, last, u) >= 0 ? 1.0f : graph.away)) return u;
    }
    return rare_step(graph, random, last, v);
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
