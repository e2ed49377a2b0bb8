#include "cli/table.h"

#include <algorithm>
#include <cstddef>

namespace posenc::cli {
namespace {

constexpr std::string_view gap = "  ";

/// Characters, not bytes, of UTF-8 text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

void append_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line;
  text += '\n';
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.header));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }

  std::string text;
  const auto append = [&](auto cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = cell_of(i);
      const std::string padding(widths[i] - width_of(cell), ' ');
      if (i > 0) line += gap;
      line += columns_[i].align == Align::left ? cell + padding : padding + cell;
    }
    append_line(text, std::move(line));
  };
  append([&](std::size_t i) { return columns_[i].header; });
  append([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) {
    append([&](std::size_t i) { return i < row.size() ? row[i] : std::string(); });
  }
  return text;
}

}  // namespace posenc::cli
