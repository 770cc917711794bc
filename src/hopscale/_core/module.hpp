// What the files of the Python module share: array types, checks, and structs that keep their arrays alive.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hopscale {

template <typename T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using VectorOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using MatrixOut = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using Maybe = std::optional<Vector<T>>;
using Release = nb::call_guard<nb::gil_scoped_release>;

// A struct for the kernels and the arrays that it points into.
template <typename Struct> struct Held : Struct {
    std::vector<nb::ndarray<>> arrays;
};

struct HeldPanels : Held<Panels> {
    std::vector<Panel> list;
};

extern const Kernels *chosen;  // those of the instruction set in use

void bind_structs(nb::module_ &m);

// Each check raises ValueError; messages are only put together when one fails, because some run over every edge.
inline void require(bool holds, const char *message) {
    if (!holds) throw std::invalid_argument(message);
}

[[noreturn]] inline void refuse(const std::string &what, const std::string &why) {
    throw std::invalid_argument(what + why);
}

inline void check_count(std::int64_t found, std::int64_t needed, std::string_view what, const char *of = " entries") {
    if (found != needed)
        refuse(std::string(what), ": " + std::to_string(needed) + of + " needed, found " + std::to_string(found));
}

template <typename T> void check_count(const Maybe<T> &array, std::int64_t needed, std::string_view what) {
    if (array) check_count(std::int64_t(array->shape(0)), needed, what);
}

// A table of so many rows, of the width of another one if that is given; returns its width.
template <typename M> int check_table(const M &table, std::int64_t rows, const char *what, int needed = 0) {
    check_count(std::int64_t(table.shape(0)), rows, what, " rows");
    const std::size_t width = table.shape(1);
    if (width == 0 || width % 16 || width > std::size_t(MAX_WIDTH) || (needed && width != std::size_t(needed)))
        refuse(what, needed ? ": rows of " + std::to_string(needed) + " floats needed, found " + std::to_string(width)
                            : ": rows must be padded to 16 floats, at most " + std::to_string(MAX_WIDTH));
    return int(width);
}

inline void check_range(std::int64_t begin, std::int64_t end, std::int64_t count, const char *what) {
    if (begin < 0 || begin > end || end > count)
        refuse(what, " must be a range within 0.." + std::to_string(count) + ", not " + std::to_string(begin) + ".." +
                         std::to_string(end));
}

// All entries, without a branch for each.
template <typename T, typename F> void check_all(const T *values, std::size_t count, const char *message, F &&fits) {
    bool good = true;
    for (std::size_t i = 0; i < count; ++i) good &= bool(fits(values[i]));
    require(good, message);
}

template <typename T> void check_below(const Vector<T> &values, std::int64_t limit, std::string_view what) {
    bool good = true;
    for (std::size_t i = 0; i < values.shape(0); ++i)
        good &= std::int64_t(values.data()[i]) >= 0 && std::int64_t(values.data()[i]) < limit;
    if (!good) refuse(std::string(what), " must lie between 0 and " + std::to_string(limit - 1));
}

// Offsets of groups of consecutive entries; returns the number of groups.
template <typename T> std::int64_t check_offsets(const Vector<T> &offsets, std::size_t entries, std::string_view what) {
    const std::size_t count = offsets.shape(0);
    const T *p = offsets.data();
    bool good = count > 0 && p[0] == 0 && std::size_t(p[count - 1]) == entries;
    for (std::size_t i = 1; i < count; ++i) good &= p[i - 1] <= p[i];
    if (!good)
        refuse(std::string(what),
               " must start at 0, never fall, and end at the number of entries, " + std::to_string(entries));
    return std::int64_t(count) - 1;
}

}  // namespace hopscale
