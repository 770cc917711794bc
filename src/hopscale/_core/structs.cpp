// The structs as Python classes: checked once, when they are made; they keep their arrays alive.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "module.hpp"

namespace hopscale {
namespace {

constexpr std::int64_t MOST_IDS = std::numeric_limits<std::int32_t>::max();  // nodes and columns are 32-bit numbers

template <typename T> const T *data(const Maybe<T> &array) { return array ? array->data() : nullptr; }

template <typename... Arrays> std::vector<nb::ndarray<>> hold(const Arrays &...arrays) {
    std::vector<nb::ndarray<>> held;
    const auto one = [&](const auto &array) { held.emplace_back(array); };
    const auto maybe = [&](const auto &array) {
        if constexpr (std::is_constructible_v<nb::ndarray<>, decltype(array)>) one(array);
        else if (array) one(*array);
    };
    (maybe(arrays), ...);
    return held;
}

// `__init__` out of a function that returns the struct.
template <typename Struct, typename... Args> auto made_by(Struct (*make)(Args...)) {
    return [make](Struct *self, Args... args) { new (self) Struct(make(std::forward<Args>(args)...)); };
}

Held<Graph> make_graph(Vector<std::int64_t> offsets, Vector<std::int32_t> neighbors, Vector<float> inverse_degrees,
                       Maybe<float> weights, Maybe<float> keep, Maybe<std::int32_t> other, float back, float away) {
    const std::size_t m = neighbors.shape(0);
    const std::int64_t n = check_offsets(offsets, m, "Graph: offsets");
    require(n <= MOST_IDS, "Graph: offsets must be those of fewer than 2^31 nodes");
    check_below(neighbors, n, "Graph: neighbors");
    check_count(inverse_degrees.shape(0), n, "Graph: inverse_degrees");
    check_count(weights, m, "Graph: weights");
    check_count(keep, m, "Graph: keep");
    check_count(other, m, "Graph: other");
    require(keep.has_value() == other.has_value(), "Graph: keep and other must be given together");
    require(back > 0 && std::isfinite(back), "Graph: back must be positive and finite");
    require(away > 0 && std::isfinite(away), "Graph: away must be positive and finite");

    const std::int64_t *offset = offsets.data();
    const std::int32_t *neighbor = neighbors.data();
    check_all(neighbor, m, "Graph: neighbors must have neighbors themselves, as in every undirected graph",
              [=](std::int32_t u) { return offset[u] < offset[u + 1]; });
    check_all(inverse_degrees.data(), std::size_t(n), "Graph: inverse_degrees must not be negative",
              [](float x) { return x >= 0; });
    if (weights) check_all(weights->data(), m, "Graph: weights must not be negative", [](float x) { return x >= 0; });
    if (keep)
        check_all(keep->data(), m, "Graph: keep must lie between 0 and 1", [](float x) { return x >= 0 && x <= 1; });
    const bool sorted = back != 1 || away != 1;
    for (std::int64_t v = 0; v < n && (other || sorted); ++v)
        for (std::int64_t e = offset[v]; e < offset[v + 1]; ++e) {
            require(!other || (other->data()[e] >= 0 && other->data()[e] < offset[v + 1] - offset[v]),
                    "Graph: other must lie within each node's number of neighbors");
            require(!sorted || e == offset[v] || neighbor[e - 1] <= neighbor[e],
                    "Graph: neighbors of each node must be sorted where back or away is not 1");
        }
    return {{n, offset, neighbor, inverse_degrees.data(), data(weights), data(keep), data(other), back, away},
            hold(offsets, neighbors, inverse_degrees, weights, keep, other)};
}

Held<Csr> make_csr(Vector<std::int64_t> offsets, Vector<std::int32_t> columns, Vector<float> values,
                   std::int64_t n_columns) {
    const std::size_t nnz = columns.shape(0);
    require(n_columns >= 0 && n_columns <= MOST_IDS, "Csr: n_columns must lie between 0 and 2^31 - 1");
    check_count(values.shape(0), nnz, "Csr: values");
    const std::int64_t rows = check_offsets(offsets, nnz, "Csr: offsets");
    require(rows <= MOST_IDS, "Csr: offsets must be those of fewer than 2^31 rows");
    check_below(columns, n_columns, "Csr: columns");
    bool positive = true;
    for (std::size_t k = 0; k < nnz; ++k) positive &= values.data()[k] > 0;
    return {{rows, n_columns, offsets.data(), columns.data(), values.data(), positive}, hold(offsets, columns, values)};
}

Held<Noise> make_noise(Vector<std::uint32_t> last, Vector<std::uint32_t> feature, Vector<std::uint32_t> guide,
                       int shift) {
    const std::size_t count = last.shape(0);
    require(count > 0 && last.data()[count - 1] == std::numeric_limits<std::uint32_t>::max() &&
                std::is_sorted(last.data(), last.data() + count),
            "Noise: last must never fall, and end at 2^32 - 1");
    check_count(feature.shape(0), count, "Noise: feature");
    check_below(feature, std::int64_t(count), "Noise: feature");
    require(shift >= 0 && shift < 32, "Noise: shift must lie between 0 and 31");
    check_count(guide.shape(0), std::size_t(1) << (32 - shift), "Noise: guide");
    check_below(guide, std::int64_t(count), "Noise: guide");
    for (std::uint64_t i = 0; i < guide.shape(0); ++i)
        require(!guide.data()[i] || last.data()[guide.data()[i] - 1] < i << shift,
                "Noise: guide must not point past the position of a number");
    return {{std::int64_t(count), last.data(), feature.data(), guide.data(), shift}, hold(last, feature, guide)};
}

using PanelArrays = std::tuple<Vector<std::uint32_t>, Vector<std::uint8_t>, Vector<float>>;

HeldPanels make_panels(const std::vector<PanelArrays> &panels, std::int64_t n_rows, int width) {
    require(n_rows >= 0 && n_rows <= MOST_IDS, "Panels: n_rows must lie between 0 and 2^31 - 1");
    require(width >= 1 && width <= 256, "Panels: width must lie between 1 and 256");
    HeldPanels held{};
    for (std::size_t j = 0; j < panels.size(); ++j) {
        const std::string which = "Panels: panel " + std::to_string(j);
        const auto &[offsets, columns, values] = panels[j];
        check_count(values.shape(0), columns.shape(0), which + ", values");
        check_count(offsets.shape(0), n_rows + 1, which + ", offsets");
        check_offsets(offsets, columns.shape(0), which + ", offsets");
        check_below(columns, width, which + ", columns");
        held.list.push_back({offsets.data(), columns.data(), values.data()});
        for (const auto &array : hold(offsets, columns, values)) held.arrays.push_back(array);
    }
    static_cast<Panels &>(held) = {held.list.data(), std::int64_t(panels.size()), n_rows, width};
    return held;
}

Held<SkipGram> make_skip_gram(const Held<Graph> &graph, const Held<Csr> &features, const Held<Noise> &noise,
                              std::uint32_t hops, int negatives, int batch, int shared, std::uint64_t seed,
                              std::uint64_t scale, Maybe<float> counts, Maybe<float> keep) {
    const auto q = std::size_t(features.n_columns);
    check_count(features.n_rows, graph.n_nodes, "SkipGram: features", " rows");
    check_count(noise.count, q, "SkipGram: noise", " features");
    require(hops > 0, "SkipGram: hops must name a step");
    require(negatives >= 0, "SkipGram: negatives must not be negative");
    require(batch >= 1 && batch <= MAX_BATCH, "SkipGram: batch must lie between 1 and 64");
    require(shared >= 1 && shared <= MAX_BATCH, "SkipGram: shared must lie between 1 and 64");
    const auto nnz = std::size_t(features.offsets[features.n_rows]);
    check_count(counts, nnz, "SkipGram: counts");
    check_count(keep, q, "SkipGram: keep");
    if (counts)  // a visit uses an entry as often as this says
        check_all(counts->data(), nnz, "SkipGram: counts must lie between 0 and 2^31",
                  [](float x) { return x >= 0 && x < 0x1p31f; });
    if (keep)
        check_all(keep->data(), q, "SkipGram: keep must lie between 0 and 1", [](float x) { return x >= 0 && x <= 1; });
    auto arrays = hold(counts, keep);
    for (const auto *more : {&graph.arrays, &features.arrays, &noise.arrays})
        arrays.insert(arrays.end(), more->begin(), more->end());
    return {{graph, features, data(counts), data(keep), noise, hops, negatives, batch, shared, seed, scale},
            std::move(arrays)};
}

std::pair<std::int64_t, std::int64_t> train(const Held<SkipGram> &model, MatrixOut<float> node_vectors,
                                            Matrix<float> feature_vectors, std::optional<MatrixOut<float>> own,
                                            std::optional<VectorOut<std::uint32_t>> touches, Vector<std::int32_t> nodes,
                                            Vector<std::int64_t> visits, double learning_rate, std::uint64_t round,
                                            Vector<std::uint8_t> stop) {
    const Graph &graph = model.graph;
    const std::int64_t q = model.features.n_columns;
    const int width = check_table(node_vectors, graph.n_nodes, "train: node_vectors");
    check_table(feature_vectors, q, "train: feature_vectors", width);
    require(own.has_value() == touches.has_value(), "train: own and touches must be given together");
    if (own) {
        check_table(*own, q, "train: own", width);
        check_count(touches->shape(0), q, "train: touches");
    }
    check_below(nodes, graph.n_nodes, "train: nodes");
    check_count(visits.shape(0), nodes.shape(0), "train: visits");
    for (std::size_t i = 0; i < nodes.shape(0); ++i) {
        const std::int32_t v = nodes.data()[i];
        require(visits.data()[i] >= 0, "train: visits must not be negative");
        if (visits.data()[i] > 0 && model.hops > 1 && graph.offsets[v] == graph.offsets[v + 1])
            refuse("train: nodes", " must have a neighbor to walk to, but node " + std::to_string(v) + " has none");
    }
    require(learning_rate >= 0 && std::isfinite(learning_rate), "train: learning_rate must be finite and not negative");
    require(stop.shape(0) > 0, "train: stop must have an entry");
    const auto result = chosen->train(model, {node_vectors.data(), feature_vectors.data(), own ? own->data() : nullptr,
                                              touches ? touches->data() : nullptr, width, nodes.data(), visits.data(),
                                              std::int64_t(nodes.shape(0)), float(learning_rate), round, stop.data()});
    return {result.pairs, result.not_finite};
}

}  // namespace

void bind_structs(nb::module_ &m) {
    nb::class_<Held<Graph>>(m, "Graph")
        .def("__init__", made_by(&make_graph), "offsets"_a, "neighbors"_a, nb::kw_only(), "inverse_degrees"_a,
             "weights"_a = nb::none(), "keep"_a = nb::none(), "other"_a = nb::none(), "back"_a = 1.0f, "away"_a = 1.0f,
             Release())
        .def_prop_ro("n_nodes", [](const Held<Graph> &self) { return self.n_nodes; });

    nb::class_<Held<Csr>>(m, "Csr")
        .def("__init__", made_by(&make_csr), "offsets"_a, "columns"_a, "values"_a, "n_columns"_a, Release())
        .def_prop_ro("shape", [](const Held<Csr> &self) { return std::pair(self.n_rows, self.n_columns); })
        .def_prop_ro("nnz", [](const Held<Csr> &self) { return self.offsets[self.n_rows]; });

    nb::class_<Held<Noise>>(m, "Noise")
        .def("__init__", made_by(&make_noise), "last"_a, "feature"_a, "guide"_a, "shift"_a, Release());

    nb::class_<HeldPanels>(m, "Panels")
        .def("__init__", made_by(&make_panels), "panels"_a, "n_rows"_a, "width"_a, Release());

    nb::class_<Held<SkipGram>>(m, "SkipGram")
        .def("__init__", made_by(&make_skip_gram), "graph"_a, "features"_a, "noise"_a, nb::kw_only(), "hops"_a,
             "negatives"_a, "batch"_a, "shared"_a, "seed"_a, "scale"_a, "counts"_a = nb::none(), "keep"_a = nb::none(),
             Release())
        .def("train", &train, "node_vectors"_a.noconvert(), "feature_vectors"_a, "own"_a.none().noconvert(),
             "touches"_a.none().noconvert(), "nodes"_a, "visits"_a, nb::kw_only(), "learning_rate"_a, "round"_a,
             "stop"_a.noconvert(), Release());
}

}  // namespace hopscale
