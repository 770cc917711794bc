#include "text.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <iterator>
#include <limits>
#include <utility>

#include "simd.hpp"

namespace hopscale {
namespace {

constexpr std::ptrdiff_t LONGEST_CELL = 100'000;
// Slots that a name is looked for in. In a table that is half full a search of this length does not happen by chance:
// the names were chosen to collide, and all of them together would take a time that grows with the square of their
// number.
constexpr int LONGEST_SEARCH = 1000;
constexpr std::size_t BATCH = 64;  // cells whose places in memory are fetched at the same time
constexpr std::size_t ROWS_PER_LOOK = 1 << 14;
constexpr std::size_t WORTH_A_THREAD = std::size_t(1) << 22;
constexpr std::uint64_t ONES = 0x0101010101010101u, HIGH = 0x80 * ONES;

// Eight bytes, the first in the lowest bits.
std::uint64_t eight(const char *p) {
    std::uint64_t w = 0;
    for (int i = 0; i < 8; ++i) w |= std::uint64_t(std::uint8_t(p[i])) << 8 * i;
    return w;
}

// The same; past the end there are line feeds.
std::uint64_t word(const char *p, const char *end) {
    char padded[8] = {'\n', '\n', '\n', '\n', '\n', '\n', '\n', '\n'};
    if (end - p < 8) p = static_cast<const char *>(std::memcpy(padded, p, std::size_t(end - p)));
    return eight(p);
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t w) {
    hash = (hash ^ w) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

struct Cell {
    const char *begin, *end;
    std::uint64_t hash;
};

// The cell up to the first byte whose high bit `stops` sets; bits that are set above that one do not matter.
template <typename F> Cell cell_until(const char *begin, const char *end, F &&stops) {
    std::uint64_t hash = 0;
    for (const char *p = begin;; p += 8) {
        const std::uint64_t w = word(p, end), high = stops(w);
        if (high) {
            const std::uint64_t kept = ((high & (0 - high)) >> 7) - 1;  // the bytes before the stop
            return {begin, p + ((kept & ONES) * ONES >> 56), mixed(hash, w & kept)};
        }
        hash = mixed(hash, w);
    }
}

std::uint64_t below(std::uint64_t w, std::uint64_t limit) { return (w - limit * ONES) & ~w & HIGH; }

std::uint64_t same(std::uint64_t w, char c) { return below(w ^ std::uint8_t(c) * ONES, 1); }

std::uint64_t line_ends(std::uint64_t w) { return same(w, '\n'); }

// The cell of a name whose end is known, as `cell_until` would find it; none if there is a line feed in it. Bytes from
// `readable` on may be read.
std::optional<Cell> whole_cell(const Name &name) {
    std::uint64_t hash = 0, feeds = 0;
    const char *p = name.begin;
    for (; name.end - p >= 8; p += 8) {
        const std::uint64_t w = eight(p);
        feeds |= line_ends(w);
        hash = mixed(hash, w);
    }
    std::uint64_t rest = 0;
    if (const std::ptrdiff_t count = name.end - p; count > 0) {
        rest = name.end - name.readable >= 8 ? eight(name.end - 8) >> 8 * (8 - count)
                                             : word(p, name.end) & ((std::uint64_t(1) << 8 * count) - 1);
        feeds |= line_ends(rest);
    }
    if (feeds) return {};
    return Cell{name.begin, name.end, mixed(hash, rest)};
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

void strip(Cell &cell) {
    if (cell.begin == cell.end || !(is_blank(*cell.begin) || is_blank(cell.end[-1]))) return;
    while (cell.begin < cell.end && is_blank(*cell.begin)) ++cell.begin;
    while (cell.begin < cell.end && is_blank(cell.end[-1])) --cell.end;
    cell = cell_until(cell.begin, cell.end, line_ends);
}

// Numbers names in the order of first sight, by open addressing in a table that is at most half full.
class Dictionary : public CodedCells {
public:
    void prefetch(const Cell &cell) const { HOPSCALE_PREFETCH(&slots_[cell.hash & (slots_.size() - 1)]); }

    std::int32_t count() const { return count_; }

    // False if there are too many names, or too many of one hash.
    bool add(const Cell &cell) {
        const auto hash = std::uint32_t(cell.hash);
        const auto length = std::size_t(cell.end - cell.begin);
        Slot *slot = place(hash, [&](const Slot &s) {
            return s.hash == hash && s.start + length < names.size() && names[s.start + length] == '\n' &&
                   !std::memcmp(&names[s.start], cell.begin, length);
        });
        if (!slot) return false;
        codes.push_back(slot->code);
        if (slot->code >= 0) return true;
        if (count_ == std::numeric_limits<std::int32_t>::max()) return false;
        *slot = {names.size(), hash, codes.back() = count_++};
        names.append(cell.begin, length).push_back('\n');
        if (2 * std::size_t(count_) < slots_.size()) return true;
        LargeVector<Slot> old(4 * slots_.size());
        old.swap(slots_);
        for (const Slot &s : old) {
            if (s.code < 0) continue;
            slot = place(s.hash, [](const Slot &) { return false; });
            if (!slot) return false;
            *slot = s;
        }
        return true;
    }

    bool append(const Dictionary &other) {
        const std::size_t before = codes.size();
        for (const char *p = other.names.data(), *end = p + other.names.size(); p < end;) {
            Cell batch[BATCH];
            std::size_t size = 0;
            for (; size < BATCH && p < end; p = batch[size++].end + 1) {
                batch[size] = cell_until(p, end, line_ends);
                prefetch(batch[size]);
            }
            for (std::size_t i = 0; i < size; ++i)
                if (!add(batch[i])) return false;
        }
        const LargeVector<std::int32_t> here(codes.begin() + std::ptrdiff_t(before), codes.end());
        codes.resize(before + other.codes.size());
        for (std::size_t i = 0; i < other.codes.size(); ++i) codes[before + i] = here[std::size_t(other.codes[i])];
        return true;
    }

private:
    struct Slot {
        std::size_t start = 0;
        std::uint32_t hash = 0;
        std::int32_t code = -1;
    };
    LargeVector<Slot> slots_ = LargeVector<Slot>(64);
    std::int32_t count_ = 0;

    // The slot that `is_it` recognises, else the free one where it would be, else nothing after a long search.
    template <typename F> Slot *place(std::uint32_t hash, F &&is_it) {
        std::size_t i = hash & (slots_.size() - 1);
        for (int step = 0; step < LONGEST_SEARCH; ++step, i = (i + 1) & (slots_.size() - 1))
            if (slots_[i].code < 0 || is_it(slots_[i])) return &slots_[i];
        return nullptr;
    }
};

// All rows of text; false if it is not plain, or told to stop. BLANKS: they divide cells.
template <bool BLANKS>
bool read(const char *p, const char *end, char delimiter, const std::vector<int> &groups, std::vector<Dictionary> &to,
          const Stop &stop) {
    const auto stops = [delimiter](std::uint64_t w) {
        return BLANKS ? below(w, '!') | (w & HIGH) : same(w, delimiter) | line_ends(w);
    };
    const auto quotes = [](std::uint64_t w) { return same(w, '"') | line_ends(w); };
    const auto at_line_end = [&] { return p == end || *p == '\n'; };
    const auto skip_blanks = [&] { for (; p < end && is_blank(*p) && (BLANKS || *p != delimiter); ++p); };
    for (Dictionary &dictionary : to) dictionary.codes.reserve(std::size_t(end - p) / 8);  // to grow would be to copy
    std::vector<std::pair<Dictionary *, Cell>> batch;
    const auto add_batch = [&batch] {
        bool fits = true;
        for (const auto &[dictionary, cell] : batch) fits &= dictionary->add(cell);
        batch.clear();
        return fits;
    };
    for (std::size_t rows = 1; p < end; ++p, ++rows) {
        if (rows % ROWS_PER_LOOK == 0 && stop()) return false;
        const char *line = p;
        skip_blanks();
        if (at_line_end()) continue;
        if (!BLANKS) p = line;  // a cell that begins with a space is not quoted
        for (std::size_t column = 0;; ++column) {
            if (column == groups.size()) return false;
            const bool quoted = !BLANKS && p < end && *p == '"';
            Cell cell = quoted ? cell_until(p + 1, end, quotes) : cell_until(p, end, stops);
            p = cell.end + quoted;
            if (quoted && (cell.end == end || *cell.end != '"' || !(at_line_end() || *p == delimiter))) return false;
            if (BLANKS && !at_line_end() && !is_blank(*p)) return false;
            if (cell.end - cell.begin > LONGEST_CELL) return false;
            if (groups[column] >= 0) {
                strip(cell);
                batch.emplace_back(&to[std::size_t(groups[column])], cell);
                batch.back().first->prefetch(cell);
            }
            if (BLANKS) skip_blanks();
            if (at_line_end() && column + 1 < groups.size()) return false;
            if (at_line_end()) break;
            if (!BLANKS) ++p;
        }
        if (batch.size() >= BATCH && !add_batch()) return false;
    }
    return add_batch();
}

// Names from a source that writes them one after the other into the room for a batch; false if one of them has a line
// feed, is longer than cells may be or is none, or if told to stop.
bool read_names(std::size_t count, const NextName &next, Dictionary &to, const Stop &stop) {
    to.codes.reserve(count);
    Cell batch[BATCH];
    for (std::size_t done = 0, size = 0; done < count; done += size) {
        if (done / BATCH % (ROWS_PER_LOOK / BATCH) == 0 && stop()) return false;
        size = std::min(BATCH, count - done);
        for (std::size_t i = 0; i < size; ++i) {
            Name name;
            if (!next(i, name) || name.end - name.begin > LONGEST_CELL) return false;
            const auto cell = whole_cell(name);
            if (!cell) return false;
            batch[i] = *cell;
            to.prefetch(batch[i]);
        }
        for (std::size_t i = 0; i < size; ++i)
            if (!to.add(batch[i])) return false;
    }
    return true;
}

// The UTF-8 bytes of a character; none for half characters and what is past the last one.
int utf8(std::uint32_t c, char *to) {
    if (c < 0x80) return *to = char(c), 1;
    if (c < 0x800) return to[0] = char(0xC0 | c >> 6), to[1] = char(0x80 | (c & 0x3F)), 2;
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return 0;
    int bytes = 0;
    if (c < 0x10000) {
        to[bytes++] = char(0xE0 | c >> 12);
    } else {
        to[bytes++] = char(0xF0 | c >> 18);
        to[bytes++] = char(0x80 | (c >> 12 & 0x3F));
    }
    to[bytes++] = char(0x80 | (c >> 6 & 0x3F));
    to[bytes++] = char(0x80 | (c & 0x3F));
    return bytes;
}

// A name of `width` characters, of which those at the end that are zero do not count, as UTF-8 in a room for it.
bool narrow(const std::uint32_t *from, std::size_t width, char *room, Name &name) {
    std::uint32_t any = 0;
    for (std::size_t k = 0; k < width; ++k) room[k] = char(from[k]), any |= from[k];
    while (width > 0 && from[width - 1] == 0) --width;
    name = {room, room + width, room};
    if (any < 0x80) return true;
    char *end = room;
    for (std::size_t k = 0; k < width; ++k) {
        const int bytes = utf8(from[k], end);
        if (bytes == 0) return false;
        end += bytes;
    }
    name.end = end;
    return true;
}

// Rows of some columns of names from one row on, row by row.
class RowReader {
public:
    RowReader(const std::vector<NameColumn> &columns, std::size_t row) : places_(columns.size()) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            places_[c] = {columns[c].data(), row};
            places_[c].skip();
        }
    }

    bool next(Name &name) {
        Place &place = places_[column_];
        if (++column_ == places_.size()) column_ = 0;
        const NameChunk &chunk = *place.chunk;
        const auto offset = [&chunk](std::size_t at) {
            return chunk.narrow ? std::int64_t(chunk.narrow[at]) : chunk.wide[at];
        };
        name = {chunk.data + offset(place.row), chunk.data + offset(place.row + 1), chunk.data};
        ++place.row;
        place.skip();
        return true;
    }

private:
    struct Place {
        const NameChunk *chunk;
        std::size_t row;  // in the chunk
        void skip() {     // the last chunk of a column has a row without end behind its rows
            for (; row >= chunk->rows && !chunk->is_last; ++chunk) row -= chunk->rows;
        }
    };
    std::vector<Place> places_;
    std::size_t column_ = 0;
};

// Two halves at once, if there is enough to do; source(row) reads names from a row on.
template <typename F>
std::optional<CodedCells> in_halves(std::size_t rows, std::size_t width, F &&source, const Stop &stop) {
    const std::size_t middle = rows * width < WORTH_A_THREAD / 8 ? rows : rows / 2;
    Dictionary found, rest;
    found.codes.reserve(rows * width);
    std::atomic<bool> useless = false;
    auto second = std::async(middle < rows ? std::launch::async | std::launch::deferred : std::launch::deferred, [&] {
        return read_names((rows - middle) * width, source(middle), rest, [&] { return useless.load(); });
    });
    useless = !read_names(middle * width, source(std::size_t(0)), found, stop);
    if (!second.get() || useless || !found.append(rest)) return {};
    return std::move(found);
}

}  // namespace

std::optional<CodedCells> encode_names(std::size_t count, const NextName &next, const Stop &stop) {
    Dictionary found;
    if (!read_names(count, next, found, stop)) return {};
    return std::move(found);
}

std::optional<CodedCells> encode_columns(const std::vector<NameColumn> &columns, std::size_t rows, const Stop &stop) {
    const auto source = [&](std::size_t row) -> NextName {
        return [reader = RowReader(columns, row)](std::size_t, Name &name) mutable { return reader.next(name); };
    };
    return in_halves(rows, columns.size(), source, stop);
}

std::optional<CodedCells> encode_characters(const std::uint32_t *characters, std::size_t count, std::size_t width,
                                            const Stop &stop) {
    if (width > std::size_t(LONGEST_CELL)) return {};
    const auto source = [&](std::size_t row) -> NextName {
        return [from = characters + row * width, width, room = std::string(BATCH * 4 * width, 0)](std::size_t i,
                                                                                                  Name &name) mutable {
            const bool fits = narrow(from, width, &room[i * 4 * width], name);
            from += width;
            return fits;
        };
    };
    return in_halves(count, 1, source, stop);
}

std::optional<std::vector<CodedCells>> encode_text(std::string_view text, std::optional<char> delimiter,
                                                   const std::vector<int> &groups, const Stop &stop) {
    const auto n_groups = std::size_t(std::max(0, *std::max_element(groups.begin(), groups.end()) + 1));
    const std::size_t middle = text.size() < WORTH_A_THREAD ? text.npos : text.find('\n', text.size() / 2);
    const char *begin = text.data(), *end = begin + text.size(), *cut = middle == text.npos ? end : begin + middle + 1;
    std::vector<Dictionary> found(n_groups), rest(n_groups);
    for (Dictionary &dictionary : found) dictionary.codes.reserve(text.size() / 8);  // to grow would be to copy
    const auto read_rows = delimiter ? read<false> : read<true>;
    const char sign = delimiter.value_or(' ');
    std::atomic<bool> useless = false;  // what the other thread reads
    auto plain = std::async(cut < end ? std::launch::async | std::launch::deferred : std::launch::deferred, read_rows,
                            cut, end, sign, std::cref(groups), std::ref(rest), [&] { return useless.load(); });
    useless = !read_rows(begin, cut, sign, groups, found, stop);
    if (useless || !plain.get()) return {};
    std::vector<std::future<bool>> joined;
    for (std::size_t g = 0; g < n_groups; ++g)
        joined.push_back(
            std::async(g > 0 && cut < end ? std::launch::async | std::launch::deferred : std::launch::deferred,
                       [&, g] { return found[g].append(rest[g]); }));
    bool fits = true;
    for (auto &one : joined) fits &= one.get();
    if (!fits) return {};
    return std::vector<CodedCells>(std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

std::optional<CodedFeatures> encode_features(std::string_view text, const Stop &stop) {
    const char *p = text.data(), *end = p + text.size();
    Dictionary keys, items, values;
    std::vector<std::int64_t> lengths;
    std::vector<std::size_t> last_key;  // with an item, by its code: no object has an item twice
    char kind = 0;                      // of the items: '"', '0', '[' while not known, '{' for those with values
    const auto next = [&] {
        while (p < end && (is_blank(*p) || *p == '\n' || *p == '\r')) ++p;
        return p < end ? *p++ : '\0';
    };
    const auto add_string = [&](Dictionary &to) {  // with its escapes as they are
        const auto stops = [](std::uint64_t w) { return same(w, '"') | same(w, '\\') | below(w, ' '); };
        const char *first = p;
        Cell cell = cell_until(p, end, stops);
        for (; end - cell.end > 1 && *cell.end == '\\'; cell = cell_until(p, end, stops)) p = cell.end + 2;
        if (cell.end >= end || *cell.end != '"') return false;
        p = cell.end + 1;
        return to.add(cell.begin == first ? cell : cell_until(first, cell.end, line_ends));
    };
    const auto add_number = [&](Dictionary &to) {  // or anything else up to the next sign
        const char *first = --p;
        while (p < end && *p != ',' && *p != ']' && *p != '}' && std::uint8_t(*p) > ' ') ++p;
        return to.add(cell_until(first, p, line_ends));
    };
    const auto add_value = [&] {
        if (next() != ':' || next() == '\0') return false;
        const auto code = std::size_t(items.codes.back());
        if (code >= last_key.size()) last_key.resize(2 * code + 1);
        if (std::exchange(last_key[code], lengths.size() + 1) == lengths.size() + 1) return false;
        return add_number(values);
    };
    char sign = next();
    if (sign != '{') return {};
    do {
        if (next() != '"' || !add_string(keys) || next() != ':') return {};
        if (lengths.size() % ROWS_PER_LOOK == ROWS_PER_LOOK - 1 && stop()) return {};
        const std::size_t before = items.codes.size();
        sign = next();
        if (sign == 'n' && end - p > 2 && !std::memcmp(p, "ull", 3)) {
            p += 3;
        } else {
            if (!kind) kind = sign;
            if ((sign != '[' && sign != '{') || (sign == '{') != (kind == '{')) return {};
            const char last = sign == '[' ? ']' : '}';
            for (sign = next(); sign != last; sign = next()) {
                if (items.codes.size() > before && (sign != ',' || (sign = next()) == last)) return {};
                if (kind == '[') kind = sign == '"' ? '"' : '0';
                if ((kind == '0' ? sign == '\0' : sign != '"') ||
                    !(kind == '0' ? add_number(items) : add_string(items)))
                    return {};
                if (kind == '{' && !add_value()) return {};
            }
        }
        lengths.push_back(std::int64_t(items.codes.size() - before));
        sign = next();
    } while (sign == ',');
    if (sign != '}' || next() != '\0' || p < end || text.back() == '\0' || std::size_t(keys.count()) < lengths.size())
        return {};
    return CodedFeatures{std::move(keys.names), std::move(lengths), std::move(items), std::move(values), kind == '0'};
}

}  // namespace hopscale
