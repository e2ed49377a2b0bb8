// Aligned tables, at most 100 columns wide if their text can be broken into lines.
#pragma once

#include "posenc/support/printable.h"

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::cli {

inline constexpr std::size_t page_width = 100;

enum class Align {
  left,
  right,
  wrapped,  ///< to the left, and broken into lines if the table is too wide
};

struct Column {
  std::string header;
  Align align = Align::right;
};

/// Text, escaped since it may come from a file.
struct Cell {
  template <std::convertible_to<std::string_view> Text>
  Cell(const Text& content) : text(escaped(content)) {}

  std::string text;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<Cell> cells) { rows_.push_back({"", std::move(cells)}); }
  void add_gap() { rows_.emplace_back(); }  ///< an empty line between groups
  /// A line of its own.
  void add_heading(std::string_view heading) { rows_.push_back({escaped(heading), {}}); }
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  struct Row {
    std::string heading;
    std::vector<Cell> cells;
  };
  std::vector<std::size_t> widths() const;
  void append_row(std::string& text, const std::vector<Cell>& cells,
                  const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Lines of at most `width` characters, broken at blanks, and within longer words at slashes.
std::vector<std::string> broken(std::string_view text, std::size_t width);

/// Every line of the text broken to the width of a page.
std::string wrapped(std::string_view text, std::string_view indent = "");

}  // namespace posenc::cli
