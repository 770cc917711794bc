// Sparse matrices from triples of row, column and value.
#pragma once
#include <cstddef>
#include <optional>

#include "huge_pages.hpp"

namespace hopscale {

// A column of a table that is stored by rows.
template <typename Index> struct Strided {
    const Index *first;
    std::ptrdiff_t stride;
    Index operator[](std::size_t i) const { return first[std::ptrdiff_t(i) * stride]; }
};

template <typename Index> struct Triples {
    std::size_t count, n_rows, n_columns;
    Strided<Index> rows, columns;
    const double *values;  // null where all are 1
    bool mirrored;         // whether each triple stands for its mirror image, too
    bool self_loops;       // if so, whether those on the diagonal count, once, or are left out
};

template <typename Index> struct Compressed {
    LargeVector<Index> offsets, indices;
    LargeVector<double> values;  // none where all are 1
};

// CSR with sorted rows. Values of one place are added up in the order of the triples; without values it counts once.
// Nothing is returned if an index is out of range. Index must hold the number of triples, or twice that if mirrored.
template <typename Index> std::optional<Compressed<Index>> compressed(const Triples<Index> &triples);

}  // namespace hopscale
