// Python's view of the kernels: NumPy arrays in and out, the interpreter's lock released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "first_hop.hpp"
#include "kernels.hpp"
#include "sampling.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using VectorOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using MatrixOut = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using Maybe = std::optional<Vector<T>>;
using Release = nb::call_guard<nb::gil_scoped_release>;

template <typename T> const T *data(const Maybe<T> &array) { return array ? array->data() : nullptr; }
template <typename T> bool fits(const Maybe<T> &array, std::size_t count) { return !array || array->shape(0) == count; }

std::vector<const hopscale::Kernels *> available() {
    std::vector<const hopscale::Kernels *> found{&hopscale::kernels_baseline};
#if defined(HOPSCALE_HAVE_avx2)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&hopscale::kernels_avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        found.push_back(&hopscale::kernels_avx512);
#endif
    return found;
}

const hopscale::Kernels *chosen = available().back();

void require(bool holds, const char *message) {
    if (!holds) throw std::invalid_argument(message);
}

bool is_weight(float x) { return x > 0 && std::isfinite(x); }

int row_width(std::size_t columns) {
    require(columns > 0 && columns % 16 == 0 && columns <= hopscale::MAX_WIDTH, "rows must be padded to 16 floats");
    return int(columns);
}

template <typename T> nb::object owned(std::vector<T> &&values) {
    auto *kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

hopscale::WalkSource walk_source(const Vector<std::int64_t> &edge_offsets, const Vector<std::int32_t> &neighbors,
                                 const Maybe<float> &edge_keep, const Maybe<std::int32_t> &edge_other, float back,
                                 float away, const Vector<std::int64_t> &feature_offsets,
                                 const Vector<std::int32_t> &feature_columns) {
    require(is_weight(back) && is_weight(away), "weights of steps back and away must be positive");
    return {edge_offsets.data(), neighbors.data(), data(edge_keep),        data(edge_other),
            back,                away,             feature_offsets.data(), feature_columns.data()};
}

}  // namespace

// What a kernel writes to, or watches for a change, is `noconvert`: of another type it would be a copy, and lost.
NB_MODULE(_native, m) {
    m.doc() = "Kernels of hopscale: serial over a range, called from threads.";

    m.def("instruction_sets", [] {
        std::vector<std::string> names;
        for (const auto *kernels : available()) names.emplace_back(kernels->name);
        return names;
    });
    m.def("instruction_set", [] { return std::string(chosen->name); });
    m.def("use_instruction_set", [](const std::string &name) {
        for (const auto *kernels : available())
            if (name == kernels->name) {
                chosen = kernels;
                return;
            }
        throw std::invalid_argument("no kernels for instruction set '" + name + "' on this processor");
    }, "name"_a);

    m.def("propagate",
          [](Vector<std::int64_t> offsets, Vector<std::int32_t> neighbors, Maybe<float> weights, Vector<float> scale,
             Matrix<float> in, MatrixOut<float> out) {
              const auto n = std::int64_t(offsets.shape(0)) - 1;
              require(std::int64_t(in.shape(0)) == n && std::int64_t(out.shape(0)) == n && in.shape(1) == out.shape(1),
                      "blocks must have one row per node");
              require(std::int64_t(scale.shape(0)) == n && fits(weights, neighbors.shape(0)),
                      "propagate: there must be a scale per node, and a weight per edge or none");
              chosen->propagate(offsets.data(), neighbors.data(), data(weights), scale.data(), in.data(), out.data(),
                                row_width(in.shape(1)), 0, n);
          },
          "offsets"_a, "neighbors"_a, "weights"_a.none(), "scale"_a, "block"_a, "out"_a.noconvert(),
          Release());

    m.def("first_hop",
          [](Vector<std::int64_t> offsets, Vector<std::int32_t> neighbors, Maybe<float> weights, Vector<float> scale,
             Vector<std::int64_t> column_offsets, Vector<std::int32_t> rows, Vector<float> values,
             MatrixOut<float> out) {
              const auto n = std::int64_t(offsets.shape(0)) - 1;
              const auto columns = std::int64_t(column_offsets.shape(0)) - 1;
              require(std::int64_t(out.shape(0)) == n && std::int64_t(scale.shape(0)) == n &&
                          fits(weights, neighbors.shape(0)),
                      "first_hop: there must be a row and a scale per node, and a weight per edge or none");
              require(columns >= 0 && columns <= std::int64_t(out.shape(1)) && rows.shape(0) == values.shape(0) &&
                          column_offsets.data()[columns] <= std::int64_t(rows.shape(0)),
                      "first_hop: columns do not match");
              hopscale::first_hop(offsets.data(), neighbors.data(), data(weights), scale.data(), n,
                                  column_offsets.data(), rows.data(), values.data(), int(columns), out.data(),
                                  int(out.shape(1)));
          },
          "offsets"_a, "neighbors"_a, "weights"_a.none(), "scale"_a, "column_offsets"_a, "rows"_a, "values"_a,
          "out"_a.noconvert(), Release());

    m.def("compress",
          [](Matrix<float> block, Vector<float> scale, VectorOut<std::uint32_t> offsets,
             VectorOut<std::uint8_t> columns, VectorOut<float> values) {
              const std::size_t rows = block.shape(0), width = block.shape(1);
              const std::size_t room = rows * width + 16;
              require(width <= 256 && scale.shape(0) == width && offsets.shape(0) == rows + 1 &&
                          columns.shape(0) >= room && values.shape(0) >= room,
                      "compress: shapes do not match");
              return chosen->compress(block.data(), scale.data(), row_width(width), std::int64_t(rows),
                                      offsets.data(), columns.data(), values.data());
          },
          "block"_a, "scale"_a, "offsets"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), Release());

    m.def("panels_times",
          [](Matrix<std::uint64_t> panels, int panel_width, Matrix<float> x, MatrixOut<float> y, std::int64_t begin,
             std::int64_t end) {
              require(x.shape(1) == y.shape(1) && x.shape(0) >= panels.shape(0) * panel_width && begin >= 0 &&
                          end <= std::int64_t(y.shape(0)),
                      "panels_times: shapes do not match");
              chosen->panels_times(panels.data(), std::int64_t(panels.shape(0)), panel_width, x.data(), y.data(),
                                   row_width(x.shape(1)), begin, end);
          },
          "panels"_a, "panel_width"_a, "x"_a, "y"_a.noconvert(), "begin"_a, "end"_a, Release());

    m.def("panel_transposed_times",
          [](Vector<std::uint32_t> offsets, Vector<std::uint8_t> columns, Vector<float> values, Matrix<float> y,
             MatrixOut<float> w) {
              require(offsets.shape(0) == y.shape(0) + 1 && y.shape(1) == w.shape(1),
                      "panel_transposed_times: shapes do not match");
              chosen->panel_transposed_times(offsets.data(), columns.data(), values.data(), std::int64_t(y.shape(0)),
                                             y.data(), w.data(), int(w.shape(0)), row_width(y.shape(1)));
          },
          "offsets"_a, "columns"_a, "values"_a, "y"_a, "w"_a.noconvert(), Release());

    m.def("csr_times",
          [](Vector<std::int64_t> offsets, Vector<std::int32_t> columns, Vector<float> values, Matrix<float> x,
             MatrixOut<float> y, std::int64_t begin, std::int64_t end) {
              require(x.shape(1) == y.shape(1) && begin >= 0 && end < std::int64_t(offsets.shape(0)) &&
                          end <= std::int64_t(y.shape(0)),
                      "csr_times: shapes do not match");
              chosen->csr_times(offsets.data(), columns.data(), values.data(), x.data(), y.data(),
                                row_width(x.shape(1)), begin, end);
          },
          "offsets"_a, "columns"_a, "values"_a, "x"_a, "y"_a.noconvert(), "begin"_a, "end"_a, Release());

    m.def("train",
          [](Vector<std::int64_t> edge_offsets, Vector<std::int32_t> neighbors, Maybe<float> edge_keep,
             Maybe<std::int32_t> edge_other, float back, float away, Vector<std::int64_t> feature_offsets,
             Vector<std::int32_t> feature_columns, Maybe<float> feature_counts, Maybe<float> feature_keep,
             Vector<std::uint32_t> noise_last, Vector<std::uint32_t> noise_feature, Vector<std::uint32_t> noise_guide,
             int noise_shift, MatrixOut<float> node_table,
             Matrix<float> features, std::optional<MatrixOut<float>> own,
             std::optional<VectorOut<std::uint32_t>> touches,
             Vector<std::int32_t> nodes, Vector<std::int64_t> visits, std::uint32_t hops, float learning_rate,
             int negatives, int batch, int shared, std::uint64_t seed, std::uint64_t scale, std::uint64_t round,
             Vector<std::uint8_t> stop) {
              require(node_table.shape(1) == features.shape(1) && nodes.shape(0) == visits.shape(0) &&
                          noise_last.shape(0) == features.shape(0) &&
                          noise_feature.shape(0) == features.shape(0) && noise_shift >= 0 && noise_shift < 32 &&
                          noise_guide.shape(0) == (std::uint64_t(1) << (32 - noise_shift)) &&
                          own.has_value() == touches.has_value() &&
                          (!own || (own->shape(0) == features.shape(0) && own->shape(1) == features.shape(1) &&
                                    touches->shape(0) == features.shape(0))),
                      "train: shapes do not match");
              require(fits(edge_keep, neighbors.shape(0)) && fits(edge_other, neighbors.shape(0)) &&
                          edge_keep.has_value() == edge_other.has_value() &&
                          fits(feature_counts, feature_columns.shape(0)) &&
                          fits(feature_keep, features.shape(0)),
                      "train: alias tables need an entry per edge, counts one per feature entry, keep one per feature");
              require(is_weight(back) && is_weight(away), "train: weights of steps back and away must be positive");
              require(batch >= 1 && batch <= hopscale::MAX_BATCH && shared >= 1 && shared <= hopscale::MAX_BATCH,
                      "train: batch and shared must lie between 1 and 64");
              const auto result = chosen->train(
                  {edge_offsets.data(), neighbors.data(), data(edge_keep), data(edge_other), back, away,
                   feature_offsets.data(),
                   feature_columns.data(), data(feature_counts), data(feature_keep), noise_last.data(),
                   noise_feature.data(), noise_guide.data(), noise_shift, node_table.data(), features.data(),
                   own ? own->data() : nullptr, touches ? touches->data() : nullptr, row_width(node_table.shape(1)), nodes.data(), visits.data(),
                   std::int64_t(nodes.shape(0)), hops, learning_rate, negatives, batch, shared, seed, scale, round,
                   stop.data()});
              return std::vector<std::int64_t>{result.pairs, result.not_finite};
          },
          "edge_offsets"_a, "neighbors"_a, "edge_keep"_a.none(), "edge_other"_a.none(), "back"_a, "away"_a, "feature_offsets"_a,
          "feature_columns"_a, "feature_counts"_a.none(), "feature_keep"_a.none(), "noise_last"_a, "noise_feature"_a,
          "noise_guide"_a, "noise_shift"_a, "node_table"_a.noconvert(), "features"_a,
          "own"_a.none().noconvert(), "touches"_a.none().noconvert(), "nodes"_a, "visits"_a, "hops"_a, "learning_rate"_a, "negatives"_a, "batch"_a,
          "shared"_a, "seed"_a, "scale"_a, "round"_a, "stop"_a.noconvert(), Release());

    m.def("accumulate",
          [](Matrix<float> own, Vector<std::uint32_t> count, MatrixOut<float> total) {
              require(own.shape(0) == total.shape(0) && own.shape(1) == total.shape(1) && count.shape(0) == own.shape(0),
                      "accumulate: shapes do not match");
              chosen->accumulate(own.data(), count.data(), std::int64_t(own.shape(0)), row_width(own.shape(1)),
                                 total.data());
          },
          "own"_a, "count"_a, "total"_a.noconvert(), Release());

    m.def("build_alias",
          [](Vector<std::int64_t> offsets, Vector<double> weights, VectorOut<float> keep,
             VectorOut<std::int32_t> other) {
              hopscale::build_alias(offsets.data(), std::int64_t(offsets.shape(0)) - 1, weights.data(), keep.data(),
                                    other.data());
          },
          "offsets"_a, "weights"_a, "keep"_a.noconvert(), "other"_a.noconvert(), Release());

    m.def("sample_walks",
          [](Vector<std::int64_t> edge_offsets, Vector<std::int32_t> neighbors, Maybe<float> edge_keep,
             Maybe<std::int32_t> edge_other, float back, float away, Vector<std::int32_t> starts, int count, std::uint64_t seed,
             nb::ndarray<std::int32_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> out) {
              require(out.shape(0) == starts.shape(0) && std::int64_t(out.shape(1)) == count,
                      "sample_walks: shapes do not match");
              require(is_weight(back) && is_weight(away), "sample_walks: weights of steps back and away must be positive");
              const hopscale::WalkSource source{edge_offsets.data(), neighbors.data(), data(edge_keep), data(edge_other),
                                                back,                away,             nullptr,         nullptr};
              hopscale::sample_walks(source, starts.data(), std::int64_t(starts.shape(0)), count,
                                     int(out.shape(2)), seed, out.data());
          },
          "edge_offsets"_a, "neighbors"_a, "edge_keep"_a.none(), "edge_other"_a.none(), "back"_a, "away"_a, "starts"_a, "count"_a,
          "seed"_a, "out"_a.noconvert(), Release());

    m.def("sample_rows",
          [](Vector<std::int64_t> edge_offsets, Vector<std::int32_t> neighbors, Maybe<float> edge_keep,
             Maybe<std::int32_t> edge_other, float back, float away, Vector<std::int64_t> feature_offsets,
             Vector<std::int32_t> feature_columns, Vector<float> feature_values, Vector<std::int32_t> nodes, int walks,
             std::uint32_t hops, Vector<float> scale, std::uint64_t seed, std::uint64_t stream,
             Vector<std::uint8_t> stop) {
              const auto source =
                  walk_source(edge_offsets, neighbors, edge_keep, edge_other, back, away, feature_offsets, feature_columns);
              hopscale::SparseRows rows;
              {
                  nb::gil_scoped_release release;
                  rows = hopscale::sample_rows(source, feature_values.data(), std::int64_t(scale.shape(0)),
                                               nodes.data(), std::int64_t(nodes.shape(0)), walks, hops, scale.data(),
                                               seed, stream, stop.data());
              }
              return nb::make_tuple(owned(std::move(rows.offsets)), owned(std::move(rows.columns)),
                                    owned(std::move(rows.values)));
          },
          "edge_offsets"_a, "neighbors"_a, "edge_keep"_a.none(), "edge_other"_a.none(), "back"_a, "away"_a, "feature_offsets"_a,
          "feature_columns"_a, "feature_values"_a, "nodes"_a, "walks"_a, "hops"_a, "scale"_a, "seed"_a, "stream"_a,
          "stop"_a.noconvert());
}
