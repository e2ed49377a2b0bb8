// Tables for people as views of documents: aligned, and at most 100 columns wide if their text can
// be broken into lines.
#pragma once

#include "posenc/suite/measuring/measurement_json.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace posenc::cli {

using namespace suite;

inline constexpr std::size_t page_width = 100;

enum class Align {
  left,
  right,
  wrapped,  ///< to the left, and broken into lines if the table is too wide
};

/// A column of a table, whose rows are values of a document.
struct Column {
  std::string header;
  std::function<std::string(const Json& row)> cell;  ///< its text in a row
  Align align = Align::right;
};

/// The value at a path in a row, such as "/error/max_abs"; null if there is none.
Json at(const Json& row, const std::string& path);

/// The text at a path.
Column text(const std::string& header, const std::string& path, Align align = Align::left);
/// The number at a path; "-" if there is none.
Column number(const std::string& header, const std::string& path,
              std::string (*format)(double number));

/// A line for each row. A row that is a text is a heading, and one that is null an empty line.
std::string table(const Json& rows, const std::vector<Column>& columns);

/// Neighbours that differ in "isa" alone become one, which has all their ISAs: "sse2 avx2".
Json joined_by_isa(const Json& rows);

/// Lines of at most `width` characters, broken at blanks, and within longer words.
std::vector<std::string> broken(const std::string& text, std::size_t width);

/// Every line of the text broken to the width of a page.
std::string wrapped(const std::string& text);

}  // namespace posenc::cli
