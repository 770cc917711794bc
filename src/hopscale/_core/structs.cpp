// The structs as Python classes: checked once, when they are made; they keep their arrays alive.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "module.hpp"

namespace hopscale {
namespace {

constexpr int64_t MOST_IDS = std::numeric_limits<int32_t>::max();  // nodes and columns are 32-bit numbers

template <typename A> auto *data(const std::optional<A> &array) { return array ? array->data() : nullptr; }

// Copies of arrays (references to what NumPy holds), or of whatever else a struct points into.
template <typename... Parts> std::shared_ptr<const void> hold(const Parts &...parts) {
    return std::make_shared<std::tuple<Parts...>>(parts...);
}

constexpr auto not_negative = [](float x) { return x >= 0; };
constexpr auto probability = [](float x) { return x >= 0 && x <= 1; };

// `__init__` out of a function that returns the struct.
template <typename Struct, typename... Args> auto made_by(Struct (*make)(Args...)) {
    return [make](Struct *self, Args... args) { new (self) Struct(make(std::forward<Args>(args)...)); };
}

Held<Graph> make_graph(Vector<int64_t> offsets, Vector<int32_t> neighbors, Vector<float> inverse_degrees,
                       Maybe<float> weights, Maybe<float> keep, Maybe<int32_t> other, float back, float away,
                       Maybe<int32_t> exponents) {
    const size_t m = neighbors.shape(0);
    const int64_t n = check_offsets(offsets, m, "Graph: offsets");
    require(n <= MOST_IDS, "Graph: offsets must be those of fewer than 2^31 nodes");
    check_below(neighbors, n, "Graph: neighbors");
    check_count(inverse_degrees.shape(0), n, "Graph: inverse_degrees");
    check_count(weights, m, "Graph: weights");
    check_count(keep, m, "Graph: keep");
    check_count(other, m, "Graph: other");
    check_count(exponents, n, "Graph: exponents");
    require(all(exponents, [](int32_t x) { return x > -300 && x < 300; }),
            "Graph: exponents must lie between -300 and 300");
    require(keep.has_value() == other.has_value(), "Graph: keep and other must be given together");
    require(back > 0 && std::isfinite(back), "Graph: back must be positive and finite");
    require(away > 0 && std::isfinite(away), "Graph: away must be positive and finite");

    const int64_t *offset = offsets.data();
    const int32_t *neighbor = neighbors.data();
    require(all(neighbors, [=](int32_t u) { return offset[u] < offset[u + 1]; }),
            "Graph: neighbors must have neighbors themselves, as in every undirected graph");
    require(all(inverse_degrees, not_negative), "Graph: inverse_degrees must not be negative");
    require(all(weights, not_negative), "Graph: weights must not be negative");
    require(all(keep, probability), "Graph: keep must lie between 0 and 1");
    const bool sorted = back != 1 || away != 1;
    for (int64_t v = 0; v < n && (other || sorted); ++v)
        for (int64_t e = offset[v]; e < offset[v + 1]; ++e) {
            require(!other || (other->data()[e] >= 0 && other->data()[e] < offset[v + 1] - offset[v]),
                    "Graph: other must lie within each node's number of neighbors");
            require(!sorted || e == offset[v] || neighbor[e - 1] <= neighbor[e],
                    "Graph: neighbors of each node must be sorted where back or away is not 1");
        }
    return {{n, offset, neighbor, inverse_degrees.data(), data(weights), data(exponents), data(keep), data(other), back,
             away},
            hold(offsets, neighbors, inverse_degrees, weights, keep, other, exponents)};
}

Held<Csr> make_csr(Vector<int64_t> offsets, Vector<int32_t> columns, Vector<float> values, int64_t n_columns) {
    const size_t nnz = columns.shape(0);
    require(n_columns >= 0 && n_columns <= MOST_IDS, "Csr: n_columns must lie between 0 and 2^31 - 1");
    check_count(values.shape(0), nnz, "Csr: values");
    const int64_t rows = check_offsets(offsets, nnz, "Csr: offsets");
    require(rows <= MOST_IDS, "Csr: offsets must be those of fewer than 2^31 rows");
    check_below(columns, n_columns, "Csr: columns");
    const bool positive = all(values, [](float x) { return x > 0; });
    return {{rows, n_columns, offsets.data(), columns.data(), values.data(), positive}, hold(offsets, columns, values)};
}

Held<Noise> make_noise(Vector<uint32_t> last, Vector<uint32_t> feature, Vector<uint32_t> guide, int shift) {
    const size_t count = last.shape(0);
    require(count > 0 && last.data()[count - 1] == std::numeric_limits<uint32_t>::max() &&
                std::is_sorted(last.data(), last.data() + count),
            "Noise: last must never fall, and end at 2^32 - 1");
    check_count(feature.shape(0), count, "Noise: feature");
    check_below(feature, int64_t(count), "Noise: feature");
    require(shift >= 0 && shift < 32, "Noise: shift must lie between 0 and 31");
    check_count(guide.shape(0), size_t(1) << (32 - shift), "Noise: guide");
    check_below(guide, int64_t(count), "Noise: guide");
    for (uint64_t i = 0; i < guide.shape(0); ++i)
        require(!guide.data()[i] || last.data()[guide.data()[i] - 1] < i << shift,
                "Noise: guide must not point past the position of a number");
    return {{int64_t(count), last.data(), feature.data(), guide.data(), shift}, hold(last, feature, guide)};
}

using PanelArrays = std::tuple<Vector<uint32_t>, Vector<uint8_t>, Vector<float>>;

Held<Panels> make_panels(const std::vector<PanelArrays> &panels, int64_t n_rows, int width) {
    require(n_rows >= 0 && n_rows <= MOST_IDS, "Panels: n_rows must lie between 0 and 2^31 - 1");
    require(width >= 1 && width <= 256, "Panels: width must lie between 1 and 256");
    const auto list = std::make_shared<std::vector<Panel>>();
    for (const auto &[offsets, columns, values] : panels) {
        const std::string which = "Panels: panel " + std::to_string(list->size());
        check_count(values.shape(0), columns.shape(0), which + ", values");
        check_count(offsets.shape(0), n_rows + 1, which + ", offsets");
        check_offsets(offsets, columns.shape(0), which + ", offsets");
        check_below(columns, width, which + ", columns");
        list->push_back({offsets.data(), columns.data(), values.data()});
    }
    return {{list->data(), int64_t(panels.size()), n_rows, width}, hold(list, panels)};
}

int64_t panel_entries(const Held<Panels> &self) {
    int64_t found = 0;
    for (int64_t j = 0; j < self.count; ++j) found += self.panels[j].offsets[self.n_rows];
    return found;
}

// Of all entries, in double precision, in eight lanes: one sum would wait for each addition.
double squared_norm(const Held<Panels> &self) {
    constexpr int LANES = 8;
    double sums[LANES] = {};
    for (int64_t j = 0; j < self.count; ++j) {
        const float *values = self.panels[j].values;
        const uint32_t count = self.panels[j].offsets[self.n_rows];
        uint32_t k = 0;
        for (; k + LANES <= count; k += LANES)
            for (int lane = 0; lane < LANES; ++lane) sums[lane] += double(values[k + lane]) * values[k + lane];
        for (; k < count; ++k) sums[k % LANES] += double(values[k]) * values[k];
    }
    return std::accumulate(sums, sums + LANES, 0.0);
}

// Says which rows have an entry.
void filled_rows(const Held<Panels> &self, VectorOut<bool> filled) {
    check_count(int64_t(filled.shape(0)), self.n_rows, "filled_rows: filled");
    std::fill_n(filled.data(), self.n_rows, false);
    for (int64_t j = 0; j < self.count; ++j) {
        const uint32_t *offsets = self.panels[j].offsets;
        for (int64_t i = 0; i < self.n_rows; ++i) filled.data()[i] |= offsets[i] < offsets[i + 1];
    }
}

Held<SkipGram> make_skip_gram(const Held<Graph> &graph, const Held<Csr> &features, const Held<Noise> &noise,
                              uint32_t hops, int negatives, int batch, int shared, uint64_t seed, uint64_t scale,
                              Maybe<float> counts, Maybe<float> keep) {
    const auto q = size_t(features.n_columns);
    check_count(features.n_rows, graph.n_nodes, "SkipGram: features", " rows");
    check_count(noise.count, q, "SkipGram: noise", " features");
    require(hops > 0, "SkipGram: hops must name a step");
    require(negatives >= 0, "SkipGram: negatives must not be negative");
    require(batch >= 1 && batch <= MAX_BATCH, "SkipGram: batch must lie between 1 and 64");
    require(shared >= 1 && shared <= MAX_BATCH, "SkipGram: shared must lie between 1 and 64");
    const auto nnz = size_t(features.offsets[features.n_rows]);
    check_count(counts, nnz, "SkipGram: counts");
    check_count(keep, q, "SkipGram: keep");
    // A visit uses an entry as often as this says.
    require(all(counts, [](float x) { return x >= 0 && x < 0x1p31f; }), "SkipGram: counts must lie between 0 and 2^31");
    require(all(keep, probability), "SkipGram: keep must lie between 0 and 1");
    return {{graph, features, data(counts), data(keep), noise, hops, negatives, batch, shared, seed, scale},
            hold(graph.arrays, features.arrays, noise.arrays, counts, keep)};
}

std::pair<int64_t, int64_t> train(const Held<SkipGram> &model, MatrixOut<float> node_vectors,
                                  Matrix<float> feature_vectors, std::optional<MatrixOut<float>> own,
                                  std::optional<VectorOut<uint32_t>> touches, Vector<int32_t> nodes,
                                  Vector<int64_t> visits, double learning_rate, uint64_t round, Vector<uint8_t> stop) {
    const Graph &graph = model.graph;
    const int64_t q = model.features.n_columns;
    const int width = check_table(node_vectors, int64_t(nodes.shape(0)), "train: node_vectors");
    check_table(feature_vectors, q, "train: feature_vectors", width);
    require(own.has_value() == touches.has_value(), "train: own and touches must be given together");
    if (own) {
        check_table(*own, q, "train: own", width);
        check_count(touches->shape(0), q, "train: touches");
    }
    check_below(nodes, graph.n_nodes, "train: nodes");
    check_count(visits.shape(0), nodes.shape(0), "train: visits");
    for (size_t i = 0; i < nodes.shape(0); ++i) {
        const int32_t v = nodes.data()[i];
        require(visits.data()[i] >= 0, "train: visits must not be negative");
        require(visits.data()[i] == 0 || model.hops <= 1 || graph.offsets[v] < graph.offsets[v + 1],
                "train: nodes must have a neighbor to walk to, but node ", v, " has none");
    }
    require(learning_rate >= 0 && std::isfinite(learning_rate), "train: learning_rate must be finite and not negative");
    require(stop.shape(0) > 0, "train: stop must have an entry");
    const auto result = chosen->train(model, {node_vectors.data(), feature_vectors.data(), data(own), data(touches),
                                              width, nodes.data(), visits.data(), int64_t(nodes.shape(0)),
                                              float(learning_rate), round, stop.data()});
    return {result.pairs, result.not_finite};
}

}  // namespace

void bind_structs(nb::module_ &m) {
    nb::class_<Held<Graph>>(m, "Graph")
        .def("__init__", made_by(&make_graph), "offsets"_a, "neighbors"_a, nb::kw_only(), "inverse_degrees"_a,
             "weights"_a = nb::none(), "keep"_a = nb::none(), "other"_a = nb::none(), "back"_a = 1.0f, "away"_a = 1.0f,
             "exponents"_a = nb::none(), Release());

    nb::class_<Held<Csr>>(m, "Csr").def("__init__", made_by(&make_csr), "offsets"_a, "columns"_a, "values"_a,
                                        "n_columns"_a, Release());

    nb::class_<Held<Noise>>(m, "Noise")
        .def("__init__", made_by(&make_noise), "last"_a, "feature"_a, "guide"_a, "shift"_a, Release());

    nb::class_<Held<Panels>>(m, "Panels")
        .def("__init__", made_by(&make_panels), "panels"_a, "n_rows"_a, "width"_a, Release())
        .def_prop_ro("n_rows", [](const Held<Panels> &self) { return self.n_rows; })
        .def_prop_ro("count", [](const Held<Panels> &self) { return self.count; })
        .def_prop_ro("entries", &panel_entries)
        .def("squared_norm", &squared_norm, Release())
        .def("filled_rows", &filled_rows, "filled"_out, Release());

    nb::class_<Held<SkipGram>>(m, "SkipGram")
        .def("__init__", made_by(&make_skip_gram), "graph"_a, "features"_a, "noise"_a, nb::kw_only(), "hops"_a,
             "negatives"_a, "batch"_a, "shared"_a, "seed"_a, "scale"_a, "counts"_a = nb::none(), "keep"_a = nb::none(),
             Release())
        .def("train", &train, "node_vectors"_out, "feature_vectors"_a, "own"_out.none(), "touches"_out.none(),
             "nodes"_a, "visits"_a, nb::kw_only(), "learning_rate"_a, "round"_a, "stop"_out, Release());
}

}  // namespace hopscale
