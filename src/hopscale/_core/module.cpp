// Python's view of the kernels: checked structs and NumPy arrays in and out, the interpreter's lock released.
#include "module.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "portable.hpp"
#include "text.hpp"
#include "triples.hpp"

namespace hopscale {
namespace {

std::vector<const Kernels *> available() {
    std::vector<const Kernels *> found{&kernels_baseline};
#if defined(HOPSCALE_HAVE_avx2)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&kernels_avx2);
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

void checked_panel_transposed_times(const Held<Panels> &panels, int64_t j, Matrix<float> y, MatrixOut<float> w) {
    require(j >= 0 && j < panels.count, "panel_transposed_times: j must be the number of a panel");
    const int width = check_table(y, panels.n_rows, "panel_transposed_times: y");
    check_table(w, panels.width, "panel_transposed_times: w", width);
    chosen->panel_transposed_times(panels, j, y.data(), w.data(), width);
}

void checked_csr_times(const Held<Csr> &matrix, Matrix<float> x, MatrixOut<float> y, int64_t begin, int64_t end) {
    const int width = check_table(x, matrix.n_columns, "csr_times: x");
    check_table(y, matrix.n_rows, "csr_times: y", width);
    check_range(begin, end, matrix.n_rows, "csr_times: begin and end");
    chosen->csr_times(matrix, x.data(), y.data(), width, begin, end);
}

void checked_accumulate(Matrix<float> own, Vector<uint32_t> count, MatrixOut<float> total) {
    const auto rows = int64_t(own.shape(0));
    const int width = check_table(own, rows, "accumulate: own");
    check_count(count.shape(0), own.shape(0), "accumulate: count");
    check_table(total, rows, "accumulate: total", width);
    chosen->accumulate(own.data(), count.data(), rows, width, total.data());
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

nb::tuple checked_sample_rows(const Held<Graph> &graph, const Held<Csr> &features, Vector<int32_t> nodes, int64_t walks,
                              uint32_t hops, Vector<float> scale, uint64_t seed, uint64_t stream,
                              Vector<uint8_t> stop) {
    check_count(features.n_rows, graph.n_nodes, "sample_rows: features", " rows");
    require(features.positive, "sample_rows: features must have positive values");
    check_below(nodes, graph.n_nodes, "sample_rows: nodes");
    require(walks >= 1, "sample_rows: walks must be positive");
    require(hops > 1 && !(hops & 1u), "sample_rows: hops must name steps, from the first one on");
    check_count(scale.shape(0), features.n_columns, "sample_rows: scale");
    require(stop.shape(0) > 0, "sample_rows: stop must have an entry");
    const RowTask task{nodes.data(), int64_t(nodes.shape(0)), walks, hops, scale.data(), seed, stream, stop.data()};
    SparseRows rows;
    {
        nb::gil_scoped_release release;
        rows = sample_rows(graph, features, task);
    }
    return nb::make_tuple(owned(std::move(rows.offsets)), owned(std::move(rows.columns)),
                          owned(std::move(rows.values)));
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
    m.def("first_hop", &checked_first_hop, "graph"_a, "features_by_column"_a, "first"_a, "last"_a, "out"_out,
          Release());
    m.def("compress", &checked_compress, "block"_a, "scale"_a, "offsets"_out, "columns"_out, "values"_out, Release());
    m.def("panels_times", &checked_panels_times, "panels"_a, "x"_a, "y"_out, "begin"_a, "end"_a, Release());
    m.def("panel_transposed_times", &checked_panel_transposed_times, "panels"_a, "j"_a, "y"_a, "w"_out, Release());
    m.def("csr_times", &checked_csr_times, "matrix"_a, "x"_a, "y"_out, "begin"_a, "end"_a, Release());
    m.def("accumulate", &checked_accumulate, "own"_a, "count"_a, "total"_out, Release());
    m.def("build_alias", &checked_build_alias, "offsets"_a, "weights"_a, "keep"_out, "other"_out, Release());
    m.def("sample_walks", &checked_sample_walks, "graph"_a, "starts"_a, "count"_a, "seed"_a, "out"_out, Release());
    m.def("sample_rows", &checked_sample_rows, "graph"_a, "features"_a, "nodes"_a, "walks"_a, "hops"_a, "scale"_a,
          "seed"_a, "stream"_a, "stop"_out);
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
