#include "cli/table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace posenc::cli {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t least_wrapped = 16;

/// Number of characters of UTF-8 text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

void append_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line;
  text += '\n';
}

/// The text up to where a line may end: a blank that does not precede "%"; in a word that is longer
/// than a line, a slash.
std::string_view next_word(std::string_view text, std::size_t width, std::size_t room) {
  std::size_t end = text.find(' ');
  while (end != std::string_view::npos && end + 1 < text.size() && text[end + 1] == '%')
    end = text.find(' ', end + 1);
  const std::string_view word =
      text.substr(0, end == std::string_view::npos ? end : text.find_first_not_of(' ', end));
  if (word.size() <= width) return word;
  std::size_t slash =
      room > 1 ? word.rfind('/', room - 1) : std::string_view::npos;  // the last on this line
  if (slash == 0 || slash == std::string_view::npos) slash = word.find('/', 1);
  return slash == std::string_view::npos ? word : word.substr(0, slash + 1);
}

std::string_view trimmed(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

std::vector<std::string> broken(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = next_word(text, width, width - std::min(width, width_of(line)));
    text.remove_prefix(word.size());
    if (!line.empty() && width_of(line) + width_of(trimmed(word)) > width) {
      lines.emplace_back(trimmed(line));
      line.clear();
    }
    line += word;
  }
  lines.emplace_back(trimmed(line));
  return lines;
}

std::string wrapped(std::string_view text, std::string_view indent) {
  std::string page;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (const std::string& line : broken(text.substr(0, end), page_width - indent.size())) {
      append_line(page, std::string(indent) + line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return page;
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.header));
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row.cells[i].text));
  }
  std::size_t total =
      std::accumulate(widths.begin(), widths.end(), gap.size() * (widths.size() - 1));
  for (std::size_t i = widths.size(); i-- > 0 && total > page_width;) {
    if (columns_[i].align != Align::wrapped) continue;
    const std::size_t floor =
        std::min(widths[i], std::max(least_wrapped, width_of(columns_[i].header)));
    const std::size_t less = std::min(total - page_width, widths[i] - floor);
    widths[i] -= less;
    total -= less;
  }
  return widths;
}

void Table::append_row(std::string& text, const std::vector<Cell>& cells,
                       const std::vector<std::size_t>& widths) const {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool breaks = columns_[i].align == Align::wrapped;
    lines.push_back(breaks ? broken(cells[i].text, widths[i]) : std::vector{cells[i].text});
    height = std::max(height, lines.back().size());
  }
  for (std::size_t l = 0; l < height; ++l) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string content = l < lines[i].size() ? lines[i][l] : "";
      const std::size_t width = width_of(content);
      const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
      if (i > 0) line += gap;
      line += columns_[i].align == Align::right ? padding + content : content + padding;
    }
    append_line(text, std::move(line));
  }
}

std::string Table::text() const {
  const std::vector<std::size_t> fitting = widths();
  std::vector<Cell> headers, rules;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headers.emplace_back(columns_[i].header);
    rules.emplace_back(std::string(fitting[i], '-'));
  }
  std::string text;
  append_row(text, headers, fitting);
  append_row(text, rules, fitting);
  for (const Row& row : rows_) {
    if (row.cells.empty()) {
      append_line(text, row.heading);
    } else {
      append_row(text, row.cells, fitting);
    }
  }
  return text;
}

}  // namespace posenc::cli
