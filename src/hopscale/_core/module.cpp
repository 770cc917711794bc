// Python's view of the kernels: checked structs and NumPy arrays in and out, the interpreter's lock released.
#include "module.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "huge_pages.hpp"
#include "portable.hpp"
#include "rows.hpp"
#include "text.hpp"
#include "triples.hpp"

namespace hopscale {
namespace {

std::vector<const Kernels *> available() {
    std::vector<const Kernels *> found{&kernels_baseline};
#if defined(HOPSCALE_HAVE_avx2)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
        found.push_back(&kernels_avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        found.push_back(&kernels_avx512);
#endif
    return found;
}

void use_instruction_set(const std::string &name) {
    const auto list = available();
    const auto found = std::find_if(list.begin(), list.end(), [&](auto *kernels) { return name == kernels->name; });
    require(found != list.end(), "no kernels for instruction set '", name, "' on this processor");
    chosen = *found;
}

template <typename T, typename A> nb::object owned(std::vector<T, A> &&values) {
    auto *kept = new std::vector<T, A>(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T, A> *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

void checked_propagate(const Held<Graph> &graph, Matrix<float> block, MatrixOut<float> out) {
    const int width = check_table(block, graph.n_nodes, "propagate: block");
    check_table(out, graph.n_nodes, "propagate: out", width);
    require(block.data() != out.data(), "propagate: block and out must be two arrays");
    chosen->propagate(graph, block.data(), out.data(), width);
}

using HopKernel = void (*Kernels::*)(const Hop &, int64_t, int64_t);

// A hop of all rows of a block that is to be taken, the kernel that takes it, and what it needs to stay alive.
struct HopToTake : Held<Hop> {
    HopKernel kernel;
};

// What is not given is not needed.
template <HopKernel kernel>
HopToTake checked_hop(const Held<Graph> &graph, int64_t first, int width, std::optional<Array<const uint16_t, 3>> dense,
                      const Held<Panels> *sparse, std::optional<Array<uint16_t, 3>> out,
                      std::optional<Array<uint16_t, 3>> pooled, Maybe<float> scale, std::optional<Matrix<float>> x,
                      std::optional<MatrixOut<float>> y, float power) {
    const std::string caller = kernel == &Kernels::one_hop ? "one_hop" : kernel == &Kernels::fill ? "fill" : "no_hop";
    const int64_t n = graph.n_nodes;
    require(width >= 16 && width <= 256 && width % 16 == 0, caller, ": width must be 16, 32, ... or 256");
    require(dense.has_value() != (sparse != nullptr), caller, ": a block must be dense or sparse");
    Hop hop{};
    const auto check_parts = [&](const auto &block) {
        if (!block) return;
        check_count(int64_t(block->shape(1)), n, caller + ": dense blocks", " rows");
        const size_t parts = block->shape(0), stride = block->shape(2);
        require(stride > 0 && stride % 16 == 0 && stride <= size_t(MAX_WIDTH) && parts <= size_t(MAX_WIDTH), caller,
                ": parts of dense blocks must have 16, 32, ... columns, at most ", MAX_WIDTH);
        require(!hop.stride || int(stride) == hop.stride, caller, ": parts of dense blocks must be as wide");
        hop.stride = int(stride);
        hop.apart = n * hop.stride;
        require(first >= 0 && first <= hop.stride * int64_t(parts) - width, caller,
                ": first and width must be those of columns of the blocks");
        require(!dense || first % hop.stride <= hop.stride - width, caller,
                ": first and width must be those of columns of one part");
    };
    check_parts(dense);
    check_parts(out);
    check_parts(pooled);
    const int64_t at = hop.stride ? first / hop.stride * hop.apart + first % hop.stride : 0;
    if (dense) {
        require((!out || out->data() != dense->data()) && (!pooled || pooled->data() != dense->data()), caller,
                ": what is written must not be what is read");
        require(kernel == &Kernels::one_hop, caller, ": the block must be sparse");
        hop.dense = dense->data() + at;
    } else {
        require(first == 0 && sparse->count == 1 && sparse->width == width && sparse->n_rows == n, caller,
                ": sparse must be one panel of ", width, " columns and ", n, " rows");
        hop.sparse = sparse->panels[0];
        for (int64_t i = 0; i < n; ++i)
            require(hop.sparse.offsets[i + 1] - hop.sparse.offsets[i] <= uint32_t(width), caller,
                    ": sparse must have at most ", width, " entries in a row");
    }
    require(!out || !pooled || out->data() != pooled->data(), caller, ": out and pooled must be two arrays");
    require(scale.has_value() == x.has_value() && scale.has_value() == y.has_value(), caller,
            ": scale, x and y must be given together");
    require(scale || kernel != &Kernels::no_hop, caller, ": scale, x and y are needed");
    require(out || kernel != &Kernels::fill, caller, ": out is needed");
    check_count(scale, width, caller + ": scale");
    if (x) hop.columns = check_table(*x, width, caller + ": x");
    if (y) check_table(*y, n, caller + ": y", hop.columns);
    require(power > 0 && power <= 1, caller, ": power must be above 0 and at most 1");
    hop.graph = graph;
    hop.width = width;
    if (out) hop.out = out->data() + at;
    if (pooled) hop.pooled = pooled->data() + at;
    if (scale) {
        hop.scale = scale->data();
        hop.x = x->data();
        hop.y = y->data();
    }
    hop.power = power;
    const auto alive =
        std::make_shared<std::tuple<decltype(graph.arrays), decltype(graph.arrays), decltype(dense), decltype(out),
                                    decltype(pooled), decltype(scale), decltype(x), decltype(y)>>(
            graph.arrays, sparse ? sparse->arrays : nullptr, dense, out, pooled, scale, x, y);
    return {{hop, alive}, kernel};
}

// Takes hops one after the other, for ranges of rows: bounds[k] to bounds[k + 1], for each k that next[0] comes to. It
// is counted up by all threads that are at it, so that each range is taken once.
void checked_take_hops(const std::vector<const HopToTake *> &hops, Vector<int64_t> bounds, VectorOut<int64_t> next,
                       Vector<uint8_t> stop) {
    require(next.shape(0) == 1, "take_hops: next must have one entry");
    require(stop.shape(0) > 0, "take_hops: stop must have an entry");
    const auto count = int64_t(bounds.shape(0)) - 1;
    for (const HopToTake *hop : hops) {
        require(hop != nullptr, "take_hops: hops must not be None");
        for (int64_t k = 0; k < count; ++k)
            check_range(bounds.data()[k], bounds.data()[k + 1], hop->graph.n_nodes, "take_hops: bounds");
    }
    auto &counter = *reinterpret_cast<std::atomic<int64_t> *>(next.data());
    require(counter >= 0, "take_hops: next must not be negative");
    for (int64_t k; (k = counter.fetch_add(1)) < count && !*stop.data();) {
        const int64_t begin = bounds.data()[k], end = bounds.data()[k + 1];
        for (const HopToTake *hop : hops) (chosen->*(hop->kernel))(*hop, begin, end);
    }
}

template <HopKernel kernel> void bind_hop(nb::module_ &m, const char *name) {
    m.def(name, &checked_hop<kernel>, "graph"_a, nb::kw_only(), "first"_a = 0, "width"_a,
          "dense"_out.none() = nb::none(), "sparse"_a.none() = nb::none(), "out"_out.none() = nb::none(),
          "pooled"_out.none() = nb::none(), "scale"_a.none() = nb::none(), "x"_a.none() = nb::none(),
          "y"_out.none() = nb::none(), "power"_a = 1.0f);
}

nb::tuple checked_first_panel(const Held<Graph> &graph, const Held<Csr> &features_by_column, int64_t first,
                              int64_t last, Vector<float> factors) {
    check_count(features_by_column.n_columns, graph.n_nodes, "first_panel: features_by_column", " columns");
    require(features_by_column.positive, "first_panel: features_by_column must have positive values");
    check_range(first, last, features_by_column.n_rows, "first_panel: first and last");
    require(last - first <= 256 && (last - first) * graph.n_nodes < int64_t(1) << 32,
            "first_panel: first and last must be at most 256 columns apart, with fewer than 2^32 entries");
    check_count(factors.shape(0), features_by_column.n_rows, "first_panel: factors");
    SparseBlock found;
    {
        nb::gil_scoped_release release;
        found = first_panel(graph, features_by_column, first, last, factors.data());
    }
    return nb::make_tuple(owned(std::move(found.offsets)), owned(std::move(found.columns)),
                          owned(std::move(found.values)));
}

void checked_first_hop(const Held<Graph> &graph, const Held<Csr> &features_by_column, int64_t first, int64_t last,
                       MatrixOut<float> out) {
    check_count(features_by_column.n_columns, graph.n_nodes, "first_hop: features_by_column", " columns");
    require(features_by_column.positive, "first_hop: features_by_column must have positive values");
    check_range(first, last, features_by_column.n_rows, "first_hop: first and last");
    check_count(out.shape(0), graph.n_nodes, "first_hop: out", " rows");
    require(int64_t(out.shape(1)) >= last - first, "first_hop: out must have room for last - first columns");
    first_hop(graph, features_by_column, first, last, out.data(), int64_t(out.shape(1)));
}

int64_t checked_compress(Matrix<float> block, Vector<float> scale, VectorOut<uint32_t> offsets,
                         VectorOut<uint8_t> columns, VectorOut<float> values) {
    const size_t rows = block.shape(0), width = block.shape(1), room = rows * width + 16;
    check_table(block, int64_t(rows), "compress: block");
    require(width <= 256, "compress: block must have at most 256 columns");
    require(rows * width <= std::numeric_limits<uint32_t>::max(),
            "compress: block must have fewer than 2^32 entries, which is what offsets can count");
    check_count(scale.shape(0), width, "compress: scale");
    check_count(offsets.shape(0), rows + 1, "compress: offsets");
    require(columns.shape(0) >= room && values.shape(0) >= room,
            "compress: columns and values must have room for all entries of block and 16 more");
    return chosen->compress(block.data(), scale.data(), int(width), int64_t(rows), offsets.data(), columns.data(),
                            values.data());
}

void checked_panels_times(const Held<Panels> &panels, Matrix<float> x, MatrixOut<float> y, int64_t begin, int64_t end) {
    const int width = check_table(x, panels.count * panels.width, "panels_times: x");
    check_table(y, panels.n_rows, "panels_times: y", width);
    check_range(begin, end, panels.n_rows, "panels_times: begin and end");
    chosen->panels_times(panels, x.data(), y.data(), width, begin, end);
}

void checked_panel_transposed_times(const std::vector<const Held<Panels> *> &blocks, int64_t j, Matrix<float> y,
                                    MatrixOut<float> w) {
    int64_t rows = 0;
    for (const auto *panels : blocks) {
        require(panels && j >= 0 && j < panels->count, "panel_transposed_times: j must be the number of a panel");
        check_table(w, panels->width, "panel_transposed_times: w");
        rows += panels->n_rows;
    }
    const int width = check_table(y, rows, "panel_transposed_times: y");
    check_table(w, int64_t(w.shape(0)), "panel_transposed_times: w", width);
    const float *at = y.data();
    for (const auto *panels : blocks) {
        chosen->panel_transposed_times(*panels, j, at, w.data(), width);
        at += panels->n_rows * width;
    }
}

void checked_csr_times(const Held<Csr> &matrix, Matrix<float> x, MatrixOut<float> y, int64_t begin, int64_t end) {
    const int width = check_table(x, matrix.n_columns, "csr_times: x");
    check_table(y, matrix.n_rows, "csr_times: y", width);
    check_range(begin, end, matrix.n_rows, "csr_times: begin and end");
    chosen->csr_times(matrix, x.data(), y.data(), width, begin, end);
}

void checked_average(const std::vector<std::pair<Matrix<float>, Vector<uint32_t>>> &copies, MatrixOut<float> total,
                     VectorOut<int64_t> updates, int64_t begin, int64_t end, bool first,
                     std::optional<Matrix<float>> before) {
    const auto rows = int64_t(total.shape(0));
    const int width = check_table(total, rows, "average: total");
    check_count(updates.shape(0), total.shape(0), "average: updates");
    check_range(begin, end, rows, "average: begin and end");
    if (before) check_table(*before, rows, "average: before", width);
    std::vector<Copy> list;
    for (const auto &[own, touches] : copies) {
        const std::string which = "average: copy " + std::to_string(list.size());
        check_table(own, rows, which, width);
        check_count(touches.shape(0), total.shape(0), which + ", touches");
        list.push_back({own.data(), touches.data()});
    }
    chosen->average(list.data(), int64_t(list.size()), first, before ? before->data() : nullptr, total.data(),
                    updates.data(), width, begin, end);
}

void checked_build_alias(Vector<int64_t> offsets, Vector<double> weights, VectorOut<float> keep,
                         VectorOut<int32_t> other) {
    const size_t entries = weights.shape(0);
    const int64_t groups = check_offsets(offsets, entries, "build_alias: offsets");
    for (int64_t g = 0; g < groups; ++g)
        require(offsets.data()[g + 1] - offsets.data()[g] <= std::numeric_limits<int32_t>::max(),
                "build_alias: offsets must be those of groups of fewer than 2^31 weights");
    require(all(weights, [](double x) { return x >= 0 && x <= std::numeric_limits<double>::max(); }),
            "build_alias: weights must be finite and not negative");
    check_count(keep.shape(0), entries, "build_alias: keep");
    check_count(other.shape(0), entries, "build_alias: other");
    build_alias(offsets.data(), groups, weights.data(), keep.data(), other.data());
}

void checked_sample_walks(const Held<Graph> &graph, Vector<int32_t> starts, int64_t count, uint64_t seed,
                          Array<int32_t, 3> out) {
    check_below(starts, graph.n_nodes, "sample_walks: starts");
    require(out.shape(0) == starts.shape(0) && count >= 0 && out.shape(1) == size_t(count),
            "sample_walks: out must have a row for each start, and in it one for each of the walks");
    sample_walks(graph, starts.data(), int64_t(starts.shape(0)), count, int64_t(out.shape(2)), seed, out.data());
}

// What rows are to be made from, in the order of the functions below.
RowTask checked_rows(const std::string &caller, const Held<Graph> &graph, const Held<Csr> &features,
                     const Vector<int32_t> &nodes, int64_t walks, uint32_t hops, const Vector<float> &scale,
                     float power, uint64_t seed, uint64_t stream, const Vector<uint8_t> &stop) {
    check_count(features.n_rows, graph.n_nodes, caller + ": features", " rows");
    require(features.positive, caller, ": features must have positive values");
    check_below(nodes, graph.n_nodes, caller + ": nodes");
    require(walks >= 1, caller, ": walks must be positive");
    require(hops > 1 && !(hops & 1u), caller, ": hops must name steps, from the first one on");
    check_count(scale.shape(0), features.n_columns, caller + ": scale");
    require(power > 0 && power <= 1, caller, ": power must be above 0 and at most 1");
    require(stop.shape(0) > 0, caller, ": stop must have an entry");
    return {graph, features, walks, hops, scale.data(), power, seed, stream, stop.data()};
}

nb::tuple checked_sample_rows(const Held<Graph> &graph, const Held<Csr> &features, Vector<int32_t> nodes, int64_t walks,
                              uint32_t hops, Vector<float> scale, float power, uint64_t seed, uint64_t stream,
                              Vector<uint8_t> stop) {
    const auto task =
        checked_rows("sample_rows", graph, features, nodes, walks, hops, scale, power, seed, stream, stop);
    SparseRows<KeptVector> rows;
    {
        nb::gil_scoped_release release;
        rows = sample_rows<KeptVector>(task, nodes.data(), int64_t(nodes.shape(0)), *chosen);
    }
    return nb::make_tuple(owned(std::move(rows.offsets)), owned(std::move(rows.columns)),
                          owned(std::move(rows.values)));
}

void checked_project_rows(const Held<Graph> &graph, const Held<Csr> &features, Vector<int32_t> nodes, int64_t walks,
                          uint32_t hops, Vector<float> scale, float power, uint64_t seed, uint64_t stream,
                          Vector<uint8_t> stop, Matrix<float> x, MatrixOut<float> y, int64_t together) {
    const auto task =
        checked_rows("project_rows", graph, features, nodes, walks, hops, scale, power, seed, stream, stop);
    const int width = check_table(x, features.n_columns, "project_rows: x");
    check_table(y, int64_t(nodes.shape(0)), "project_rows: y", width);
    require(together >= 1, "project_rows: together must be positive");
    const auto count = int64_t(nodes.shape(0));
    project_rows(task, nodes.data(), count, x.data(), y.data(), width,
                 std::min(together, std::max(int64_t(1), count * features.n_columns)), *chosen);
}

// The same rows, each times its weight, in panels.
Held<Panels> checked_sample_panels(const Held<Graph> &graph, const Held<Csr> &features, Vector<int32_t> nodes,
                                   int64_t walks, uint32_t hops, Vector<float> scale, float power, uint64_t seed,
                                   uint64_t stream, Vector<uint8_t> stop, int width, Maybe<float> weights) {
    const auto task =
        checked_rows("sample_panels", graph, features, nodes, walks, hops, scale, power, seed, stream, stop);
    const auto count = int64_t(nodes.shape(0));
    require(width >= 1 && width <= 256, "sample_panels: width must lie between 1 and 256");
    require((features.n_columns / width + 1) * (count + 1) <= int64_t(1) << 28,
            "sample_panels: panels must have at most 2^28 offsets in all");
    check_count(weights, count, "sample_panels: weights");
    const auto rows = sample_rows<LargeVector>(task, nodes.data(), count, *chosen);
    const Csr matrix{int64_t(rows.offsets.size()) - 1,
                     features.n_columns,
                     rows.offsets.data(),
                     rows.columns.data(),
                     rows.values.data(),
                     true};
    const auto made =
        std::make_shared<const PanelledRows>(panelled(matrix, width, weights ? weights->data() : nullptr));
    return {{made->panels.data(), int64_t(made->panels.size()), matrix.n_rows, width}, made};
}

// Whether a signal's handler has raised an error, such as Ctrl-C's; for use while the lock is released.
bool interrupted() {
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

nb::bytes joined(const std::string &names) { return nb::bytes(names.data(), names.size() - !names.empty()); }

nb::object checked_encode_text(const nb::bytes &data, std::int64_t start, std::optional<char> delimiter,
                               const std::vector<int> &groups) {
    check_range(start, std::int64_t(data.size()), std::int64_t(data.size()), "encode_text: start and the end of data");
    require(!delimiter || (*delimiter > 0 && !std::strchr("\n\" ", *delimiter)),
            "encode_text: delimiter must be ASCII, and no line end, quote or space");
    require(groups.size() > 1, "encode_text: groups must be those of two columns or more");
    for (const int group : groups)
        require(group >= -1 && group < int(groups.size()), "encode_text: groups must be numbers of groups, or -1");
    const auto encode = [&, text = std::string_view(data.c_str(), data.size()).substr(std::size_t(start))] {
        nb::gil_scoped_release release;
        return encode_text(text, delimiter, groups, interrupted);
    };
    auto coded = encode();
    if (PyErr_Occurred()) throw nb::python_error();
    if (!coded) return nb::none();
    nb::list found;
    for (CodedCells &cells : *coded) found.append(nb::make_tuple(owned(std::move(cells.codes)), joined(cells.names)));
    return found;
}

nb::object bound_encode_features(const nb::bytes &data) {
    const auto encode = [text = std::string_view(data.c_str(), data.size())] {
        nb::gil_scoped_release release;
        return encode_features(text, interrupted);
    };
    auto coded = encode();
    if (PyErr_Occurred()) throw nb::python_error();
    if (!coded) return nb::none();
    return nb::make_tuple(joined(coded->keys), owned(std::move(coded->lengths)), owned(std::move(coded->items.codes)),
                          joined(coded->items.names), coded->numbers, owned(std::move(coded->values.codes)),
                          joined(coded->values.names));
}

nb::object as_codes(std::optional<CodedCells> &&coded) {
    if (PyErr_Occurred()) throw nb::python_error();
    if (!coded) return nb::none();
    return nb::make_tuple(owned(std::move(coded->codes)), joined(coded->names));
}

// Text of a list or tuple of lists or tuples, all of which hold nothing else. Python's lock is kept: no code of
// Python's runs between two names, other than that of a signal's handler, before which all names have been copied.
nb::object encode_strings(const nb::object &groups) {
    const auto is_sequence = [](PyObject *o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); };
    if (!is_sequence(groups.ptr())) throw nb::next_overload();
    std::size_t count = 0;
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(groups.ptr()); ++at) {
        PyObject *group = PySequence_Fast_GET_ITEM(groups.ptr(), at);
        if (!is_sequence(group)) return nb::none();
        count += std::size_t(PySequence_Fast_GET_SIZE(group));
    }
    Py_ssize_t group_at = 0, at = 0;
    const auto next = [&](std::size_t, Name &name) {
        for (; group_at < PySequence_Fast_GET_SIZE(groups.ptr()); ++group_at, at = 0) {
            PyObject *group = PySequence_Fast_GET_ITEM(groups.ptr(), group_at);
            if (!is_sequence(group)) return false;
            if (at == PySequence_Fast_GET_SIZE(group)) continue;
            PyObject *text = PySequence_Fast_GET_ITEM(group, at++);
            if (!PyUnicode_CheckExact(text)) return false;
            Py_ssize_t size = 0;
            const char *begin = PyUnicode_AsUTF8AndSize(text, &size);
            if (!begin) return PyErr_Clear(), false;                  // half characters
            const bool is_inside = PyUnicode_IS_COMPACT_ASCII(text);  // behind the head of the object
            name = {begin, begin + size, is_inside ? reinterpret_cast<const char *>(text) : begin};
            return true;
        }
        return false;  // a signal's handler has made the lists shorter
    };
    return as_codes(encode_names(count, next, [] { return PyErr_CheckSignals() != 0; }));
}

nb::object checked_encode_characters(Matrix<uint32_t> characters) {
    const auto encode = [&] {
        nb::gil_scoped_release release;
        return encode_characters(characters.data(), characters.shape(0), characters.shape(1), interrupted);
    };
    return as_codes(encode());
}

template <typename Offset>
NameChunk checked_chunk(const nb::ndarray<const Offset, nb::ndim<1>, nb::c_contig, nb::device::cpu> &offsets,
                        const Vector<uint8_t> &data) {
    const std::size_t entries = offsets.shape(0);
    require(entries > 0, "encode_columns: offsets must be one more than the rows");
    const Offset *at = offsets.data();
    bool rises = at[0] >= 0 && std::uint64_t(at[entries - 1]) <= data.shape(0);
    for (std::size_t i = 1; i < entries; ++i) rises &= at[i - 1] <= at[i];
    require(rises, "encode_columns: offsets must not fall, nor leave the data");
    NameChunk chunk{entries - 1, nullptr, nullptr, reinterpret_cast<const char *>(data.data()), false};
    if constexpr (sizeof(Offset) == 4) chunk.narrow = at;
    else chunk.wide = at;
    return chunk;
}

nb::object checked_encode_columns(const std::vector<std::vector<std::pair<nb::object, Vector<uint8_t>>>> &columns) {
    std::vector<NameColumn> read;
    std::vector<std::size_t> rows;
    for (const auto &chunks : columns) {
        NameColumn &column = read.emplace_back();
        rows.push_back(0);
        for (const auto &[offsets, data] : chunks) {
            nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> narrow;
            nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> wide;
            const bool is_narrow = nb::try_cast(offsets, narrow, false);
            require(is_narrow || nb::try_cast(offsets, wide, false), "encode_columns: offsets must be int32 or int64");
            column.push_back(is_narrow ? checked_chunk(narrow, data) : checked_chunk(wide, data));
            rows.back() += column.back().rows;
        }
        require(!column.empty(), "encode_columns: columns must have chunks");
        column.back().is_last = true;
    }
    require(!rows.empty() && std::count(rows.begin(), rows.end(), rows[0]) == std::ptrdiff_t(rows.size()),
            "encode_columns: columns must be of one length");
    const auto encode = [&] {
        nb::gil_scoped_release release;
        return encode_columns(read, rows[0], interrupted);
    };
    return as_codes(encode());
}

// At most `size` bytes of a file, in huge pages.
nb::bytes read_bytes(const nb::object &file, std::size_t size) {
    if (!nb::hasattr(file, "readinto")) throw nb::next_overload();
    const auto data = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, Py_ssize_t(size)));
    if (!data.is_valid()) throw nb::python_error();
    char *to = PyBytes_AS_STRING(data.ptr());
    prefer_huge_pages(to, size);
    std::size_t done = 0;
    for (std::size_t count = 1; count > 0 && done < size; done += count) {
        const auto rest = nb::steal(PyMemoryView_FromMemory(to + done, Py_ssize_t(size - done), PyBUF_WRITE));
        if (!rest.is_valid()) throw nb::python_error();
        count = nb::cast<std::size_t>(file.attr("readinto")(rest));
        require(count <= size - done, "read_bytes: file must fill no more than the room that it is given");
    }
    return done == size ? data : nb::bytes(to, done);
}

template <typename Index> using Column = nb::ndarray<const Index, nb::ndim<1>, nb::device::cpu>;

template <typename Index>
nb::tuple checked_compressed(Column<Index> rows, Column<Index> columns, Maybe<double> values, std::size_t n_rows,
                             std::size_t n_columns, bool mirrored, bool self_loops) {
    constexpr auto most = std::size_t(std::numeric_limits<Index>::max());
    const std::size_t count = rows.shape(0);
    check_count(int64_t(columns.shape(0)), int64_t(count), "compressed: columns");
    check_count(values, int64_t(count), "compressed: values");
    require(n_rows < most && n_columns < most && count <= most / 2, "compressed: rows must be of a larger type");
    require(!mirrored || n_rows == n_columns, "compressed: n_columns must be n_rows if mirrored");
    const Triples<Index> triples{count,
                                 n_rows,
                                 n_columns,
                                 {rows.data(), rows.stride(0)},
                                 {columns.data(), columns.stride(0)},
                                 values ? values->data() : nullptr,
                                 mirrored,
                                 self_loops};
    auto matrix = [&] {
        nb::gil_scoped_release release;
        return compressed(triples);
    }();
    require(matrix.has_value(), "compressed: rows and columns must lie within ", n_rows, " and ", n_columns);
    return nb::make_tuple(owned(std::move(matrix->offsets)), owned(std::move(matrix->indices)),
                          values ? owned(std::move(matrix->values)) : nb::none());
}

template <typename Index> void bind_compressed(nb::module_ &m) {
    m.def("compressed", &checked_compressed<Index>, "rows"_out, "columns"_out, "values"_a.none(), "n_rows"_a,
          "n_columns"_a, "mirrored"_a, "self_loops"_a);
}

}  // namespace

const Kernels *chosen = available().back();

NB_MODULE(_native, m) {
    m.doc() = "Kernels of hopscale: serial over a range, called from threads.";

    m.def("instruction_sets", [] {
        std::vector<std::string> names;
        for (const auto *kernels : available()) names.emplace_back(kernels->name);
        return names;
    });
    m.def("instruction_set", [] { return std::string(chosen->name); });
    m.def("use_instruction_set", &use_instruction_set, "name"_a);

    bind_structs(m);
    m.def("propagate", &checked_propagate, "graph"_a, "block"_a, "out"_out, Release());
    nb::class_<HopToTake>(m, "HopToTake");
    bind_hop<&Kernels::one_hop>(m, "one_hop");
    bind_hop<&Kernels::no_hop>(m, "no_hop");
    bind_hop<&Kernels::fill>(m, "fill");
    m.def("take_hops", &checked_take_hops, "hops"_a, "bounds"_a, "next"_out, "stop"_out, Release());
    m.def("first_panel", &checked_first_panel, "graph"_a, "features_by_column"_a, "first"_a, "last"_a, "factors"_a);
    m.def("first_hop", &checked_first_hop, "graph"_a, "features_by_column"_a, "first"_a, "last"_a, "out"_out,
          Release());
    m.def("compress", &checked_compress, "block"_a, "scale"_a, "offsets"_out, "columns"_out, "values"_out, Release());
    m.def("panels_times", &checked_panels_times, "panels"_a, "x"_a, "y"_out, "begin"_a, "end"_a, Release());
    m.def("panel_transposed_times", &checked_panel_transposed_times, "blocks"_a, "j"_a, "y"_a, "w"_out, Release());
    m.def("csr_times", &checked_csr_times, "matrix"_a, "x"_a, "y"_out, "begin"_a, "end"_a, Release());
    m.def("average", &checked_average, "copies"_a, "total"_out, "updates"_out, "begin"_a, "end"_a, nb::kw_only(),
          "first"_a, "before"_a = nb::none(), Release());
    m.def("build_alias", &checked_build_alias, "offsets"_a, "weights"_a, "keep"_out, "other"_out, Release());
    m.def("sample_walks", &checked_sample_walks, "graph"_a, "starts"_a, "count"_a, "seed"_a, "out"_out, Release());
    m.def("sample_rows", &checked_sample_rows, "graph"_a, "features"_a, "nodes"_a, "walks"_a, "hops"_a, "scale"_a,
          "power"_a, "seed"_a, "stream"_a, "stop"_out);
    m.def("project_rows", &checked_project_rows, "graph"_a, "features"_a, "nodes"_a, "walks"_a, "hops"_a, "scale"_a,
          "power"_a, "seed"_a, "stream"_a, "stop"_out, "x"_a, "y"_out, "together"_a, Release());
    m.def("sample_panels", &checked_sample_panels, "graph"_a, "features"_a, "nodes"_a, "walks"_a, "hops"_a, "scale"_a,
          "power"_a, "seed"_a, "stream"_a, "stop"_out, "width"_a, "weights"_a = nb::none(), Release());
    m.def("encode_text", &checked_encode_text, "data"_a, "start"_a, "delimiter"_a.none(), "groups"_a);
    m.def("encode_features", &bound_encode_features, "data"_a);
    m.def("encode_strings", &encode_strings, "groups"_a);
    m.def("encode_characters", &checked_encode_characters, "characters"_a);
    m.def("encode_columns", &checked_encode_columns, "columns"_a);
    m.def("read_bytes", &read_bytes, "file"_a, "size"_a);
    bind_compressed<std::int32_t>(m);
    bind_compressed<std::int64_t>(m);
}

}  // namespace hopscale
