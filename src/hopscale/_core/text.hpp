// Text as codes of its distinct names.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "huge_pages.hpp"

namespace hopscale {

struct CodedCells {
    LargeVector<std::int32_t> codes;  // of the cells of a group of columns, row by row
    std::string names;                // distinct cells in the order of first sight, each with a line feed after it
};

struct CodedFeatures {
    std::string keys;                   // each with a line feed after it
    std::vector<std::int64_t> lengths;  // number of items by key
    CodedCells items, values;           // without values, items came in lists
    bool numbers;                       // whether items are not text
};

struct Name {
    const char *begin, *end;
    const char *readable;  // where the memory that may be read begins, which the name is in
};

// Names of rows that lie behind each other, as Arrow holds text: row i from offsets[i] to offsets[i + 1].
struct NameChunk {
    std::size_t rows;
    const std::int32_t *narrow;  // offsets, of one of two types
    const std::int64_t *wide;
    const char *data;
    bool is_last;  // of its column
};

using NameColumn = std::vector<NameChunk>;

using NextName = std::function<bool(std::size_t, Name &)>;  // the next name, in the i-th room of a batch; false if none

using Stop = std::function<bool()>;  // whether to give up, asked now and then; nothing is returned then

// Cells of plain text, without the spaces and tabs around them; lines of nothing else are passed over. `groups` has for
// each column the number of its group, or -1 if its cells are not wanted. Without a delimiter, spaces and tabs divide
// cells. Nothing is returned for what is not plain: a row of another number of cells, a quoted cell that has quotes or
// a line end in it or text after it, a cell of more than 100,000 bytes, more than 2^31 - 1 names, a thousand names
// that collide and, without a delimiter, bytes that are not printable ASCII.
std::optional<std::vector<CodedCells>> encode_text(std::string_view text, std::optional<char> delimiter,
                                                   const std::vector<int> &groups, const Stop &stop);

// Names as they are. Nothing is returned if one has a line feed or more than 100,000 bytes, or is no text, nor for more
// than 2^31 - 1 names or a thousand that collide. Columns are read row by row; characters are UCS-4, `width` a name, of
// which those at the end that are zero do not count.
std::optional<CodedCells> encode_names(std::size_t count, const NextName &next, const Stop &stop);
std::optional<CodedCells> encode_columns(const std::vector<NameColumn> &columns, std::size_t rows, const Stop &stop);
std::optional<CodedCells> encode_characters(const std::uint32_t *characters, std::size_t count, std::size_t width,
                                            const Stop &stop);

// JSON of one object whose values, where they are not null, are lists, either all of text or all of numbers, or objects
// of numbers. Text keeps its escapes, and numbers are not looked at: whether they are right is for the caller to say.
// Nothing is returned for all else, for a key that occurs twice and for a thousand names that collide.
std::optional<CodedFeatures> encode_features(std::string_view text, const Stop &stop);

}  // namespace hopscale
