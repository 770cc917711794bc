// What the files of the Python module share: array types, checks, and structs that keep their arrays alive.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hopscale {

template <typename T, int D> using Array = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <typename T> using Vector = Array<const T, 1>;
template <typename T> using Matrix = Array<const T, 2>;
template <typename T> using VectorOut = Array<T, 1>;
template <typename T> using MatrixOut = Array<T, 2>;
template <typename T> using Maybe = std::optional<Vector<T>>;
using Release = nb::call_guard<nb::gil_scoped_release>;

// An argument that a kernel writes to, or watches for a change: converted to another type it would be a copy, and lost.
inline auto operator""_out(const char *name, size_t) { return nb::arg(name).noconvert(); }

// A struct for the kernels and the arrays that it points into.
template <typename Struct> struct Held : Struct {
    std::shared_ptr<const void> arrays;
};

extern const Kernels *chosen;  // those of the instruction set in use

void bind_structs(nb::module_ &m);

// Each check raises ValueError; messages are only put together when one fails, because some run over every edge.
template <typename... Parts> void require(bool holds, const Parts &...parts) {
    if (holds) return;
    std::ostringstream message;
    (message << ... << parts);
    throw std::invalid_argument(message.str());
}

inline void check_count(int64_t found, int64_t needed, std::string_view what, const char *of = " entries") {
    require(found == needed, what, ": ", needed, of, " needed, found ", found);
}

template <typename T> void check_count(const Maybe<T> &array, int64_t needed, std::string_view what) {
    if (array) check_count(int64_t(array->shape(0)), needed, what);
}

// A table of so many rows, of the width of another one if that is given; returns its width.
template <typename M> int check_table(const M &table, int64_t rows, std::string_view what, int needed = 0) {
    check_count(int64_t(table.shape(0)), rows, what, " rows");
    const size_t width = table.shape(1);
    require(!needed || width == size_t(needed), what, ": rows of ", needed, " floats needed, found ", width);
    require(width > 0 && width % 16 == 0 && width <= size_t(MAX_WIDTH), what,
            ": rows must be padded to 16 floats, at most ", MAX_WIDTH);
    return int(width);
}

inline void check_range(int64_t begin, int64_t end, int64_t count, std::string_view what) {
    require(0 <= begin && begin <= end && end <= count, what, " must be a range within 0..", count, ", not ", begin,
            "..", end);
}

// Whether all entries fit, without a branch for each; an array that is not given fits.
template <typename A, typename F> bool all(const A &array, F &&fits) {
    bool good = true;
    const auto *values = array.data();
    for (size_t i = 0, count = array.shape(0); i < count; ++i) good &= bool(fits(values[i]));
    return good;
}

template <typename T, typename F> bool all(const Maybe<T> &array, F &&fits) { return !array || all(*array, fits); }

template <typename T> void check_below(const Vector<T> &values, int64_t limit, std::string_view what) {
    require(all(values, [=](T x) { return int64_t(x) >= 0 && int64_t(x) < limit; }), what, " must lie between 0 and ",
            limit - 1);
}

// Offsets of groups of consecutive entries; returns the number of groups.
template <typename T> int64_t check_offsets(const Vector<T> &offsets, size_t entries, std::string_view what) {
    const size_t count = offsets.shape(0);
    const T *p = offsets.data();
    bool good = count > 0 && p[0] == 0 && size_t(p[count - 1]) == entries;
    for (size_t i = 1; i < count; ++i) good &= p[i - 1] <= p[i];
    require(good, what, " must start at 0, never fall, and end at the number of entries, ", entries);
    return int64_t(count) - 1;
}

}  // namespace hopscale
