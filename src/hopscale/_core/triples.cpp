#include "triples.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <type_traits>

namespace hopscale {
namespace {

constexpr std::size_t WORTH_A_THREAD = std::size_t(1) << 16;  // entries

// Calls part(0) and part(1), at once if there is enough to do.
template <typename F> void in_two(std::size_t entries, F &&part) {
    const auto how = entries < WORTH_A_THREAD ? std::launch::deferred : std::launch::async | std::launch::deferred;
    auto second = std::async(how, [&] { part(1); });
    part(0);
    second.get();
}

// The first half of a range from its beginning on, or the second half from its end on.
template <typename F> void each(int half, std::size_t begin, std::size_t middle, std::size_t end, F &&visit) {
    if (half == 0)
        for (std::size_t i = begin; i < middle; ++i) visit(i);
    else
        for (std::size_t i = end; i-- > middle;) visit(i);
}

// The row in which the second half of the entries begins.
template <typename Index> std::size_t middle_row(const LargeVector<Index> &offsets) {
    const auto middle = std::lower_bound(offsets.begin(), offsets.end() - 1, offsets.back() / 2);
    return std::size_t(middle - offsets.begin());
}

// Places of entries in rows of known lengths. One thread fills all rows from the front, another one from the back with
// the last entries first: neither waits for the other, and the order is that of a single thread.
template <typename Index> class Places {
public:
    explicit Places(const LargeVector<Index> &offsets)
        : next_{{offsets.begin(), offsets.end() - 1}, {offsets.begin() + 1, offsets.end()}} {}

    std::size_t next(int half, Index row) {
        Index &place = next_[half][std::size_t(row)];
        return std::size_t(half == 0 ? place++ : --place);
    }

private:
    LargeVector<Index> next_[2];
};

template <typename Index> bool is_dropped(const Triples<Index> &t, std::size_t i) {
    return t.mirrored && !t.self_loops && t.rows[i] == t.columns[i];
}

// Offsets of the rows and of the columns; false if an index is out of range.
template <typename Index> bool count(const Triples<Index> &t, LargeVector<Index> &rows, LargeVector<Index> &columns) {
    std::atomic<bool> fits = true;
    in_two(t.count, [&](int side) {
        const Strided<Index> &own = side == 0 ? t.rows : t.columns;
        LargeVector<Index> &offsets = side == 0 ? rows : columns;
        const std::size_t size = side == 0 ? t.n_rows : t.n_columns;
        offsets.assign(size + 1, 0);
        for (std::size_t i = 0; i < t.count; ++i) {
            if (std::make_unsigned_t<Index>(own[i]) >= size) {
                fits = false;
                return;
            }
            const bool is_image = t.mirrored && side == 1 && t.rows[i] == t.columns[i];  // of itself
            offsets[std::size_t(own[i]) + 1] += !is_dropped(t, i) && !is_image;
        }
        for (std::size_t k = 0; k < size; ++k) offsets[k + 1] += offsets[k];
    });
    if (!fits || !t.mirrored) return fits;
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k] += columns[k];
    columns = rows;
    return true;
}

// Entries with the same column in a row become one.
template <typename Index> void add_repeats(Compressed<Index> &matrix) {
    auto &[offsets, indices, values] = matrix;
    const std::size_t rows[] = {0, middle_row(offsets), offsets.size() - 1};
    const std::size_t begin[] = {0, std::size_t(offsets[rows[1]])};
    std::size_t end[2];
    in_two(indices.size(), [&](int half) {
        std::size_t from = begin[half], to = from;
        for (std::size_t row = rows[half]; row < rows[half + 1]; ++row) {
            const std::size_t first = to;
            for (const auto last = std::size_t(offsets[row + 1]); from < last; ++from) {
                const bool repeats = to > first && indices[to - 1] == indices[from];
                if (!values.empty()) values[to - repeats] = repeats ? values[to - 1] + values[from] : values[from];
                indices[to - repeats] = indices[from];
                to += !repeats;
            }
            offsets[row + 1] = Index(to);
        }
        end[half] = to;
    });
    const std::size_t gap = begin[1] - end[0];
    for (std::size_t row = rows[1]; gap && row < rows[2]; ++row) offsets[row + 1] -= Index(gap);
    const auto close = [&](auto &entries) {
        if (entries.empty()) return;
        if (gap) std::copy(&entries[0] + begin[1], &entries[0] + end[1], &entries[0] + end[0]);
        entries.resize(end[1] - gap);
    };
    close(indices);
    close(values);
}

}  // namespace

template <typename Index> std::optional<Compressed<Index>> compressed(const Triples<Index> &t) {
    Compressed<Index> rows, columns;
    if (!count(t, rows.offsets, columns.offsets)) return {};
    const auto entries = std::size_t(rows.offsets.back());
    for (Compressed<Index> *matrix : {&rows, &columns}) {
        matrix->indices.resize(entries);
        matrix->values.resize(t.values ? entries : 0);
    }
    // By columns in the order of the triples, and from there by rows in the order of the columns.
    Places<Index> in_columns(columns.offsets), in_rows(rows.offsets);
    in_two(entries, [&](int half) {
        const auto add = [&](Index row, Index column, std::size_t i) {
            const std::size_t place = in_columns.next(half, column);
            columns.indices[place] = row;
            if (t.values) columns.values[place] = t.values[i];
        };
        each(half, 0, t.count / 2, t.count, [&](std::size_t i) {
            if (is_dropped(t, i)) return;
            add(t.rows[i], t.columns[i], i);
            if (t.mirrored && t.rows[i] != t.columns[i]) add(t.columns[i], t.rows[i], i);
        });
    });
    in_two(entries, [&](int half) {
        each(half, 0, middle_row(columns.offsets), t.n_columns, [&](std::size_t column) {
            const auto begin = std::size_t(columns.offsets[column]), end = std::size_t(columns.offsets[column + 1]);
            each(half, begin, half == 0 ? end : begin, end, [&](std::size_t k) {
                const std::size_t place = in_rows.next(half, columns.indices[k]);
                rows.indices[place] = Index(column);
                if (t.values) rows.values[place] = columns.values[k];
            });
        });
    });
    add_repeats(rows);
    return rows;
}

template std::optional<Compressed<std::int32_t>> compressed(const Triples<std::int32_t> &);
template std::optional<Compressed<std::int64_t>> compressed(const Triples<std::int64_t> &);

}  // namespace hopscale
