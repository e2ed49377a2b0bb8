#include "cli/table.h"

#include "posenc/support/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace posenc::cli {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t least_wrapped = 16;

using Cells = std::vector<std::string>;

/// Number of characters of UTF-8 text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string_view trimmed(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
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

/// Of the columns: as wide as their cells, and narrower for wrapped ones if the page ends before.
std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<Cells>& lines) {
  std::vector<std::size_t> widths(columns.size());
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::size_t total =
      std::accumulate(widths.begin(), widths.end(), gap.size() * (widths.size() - 1));
  for (std::size_t i = widths.size(); i-- > 0 && total > page_width;) {
    if (columns[i].align != Align::wrapped) continue;
    const std::size_t floor =
        std::min(widths[i], std::max(least_wrapped, width_of(columns[i].header)));
    const std::size_t less = std::min(total - page_width, widths[i] - floor);
    widths[i] -= less;
    total -= less;
  }
  return widths;
}

/// One row, of as many lines as its highest cell.
std::string row_text(const Cells& cells, const std::vector<Column>& columns,
                     const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool breaks = columns[i].align == Align::wrapped;
    parts.push_back(breaks ? broken(cells[i], widths[i]) : std::vector{cells[i]});
    height = std::max(height, parts.back().size());
  }
  std::string text;
  for (std::size_t l = 0; l < height; ++l) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string content = l < parts[i].size() ? parts[i][l] : "";
      const std::string padding(widths[i] - std::min(widths[i], width_of(content)), ' ');
      if (i > 0) line += gap;
      line += columns[i].align == Align::right ? padding + content : content + padding;
    }
    text += fmt::format("{}\n", trimmed(line));
  }
  return text;
}

}  // namespace

Json at(const Json& row, const std::string& path) {
  const Json::json_pointer pointer(path);
  return row.contains(pointer) ? row.at(pointer) : Json();
}

Column text(const std::string& header, const std::string& path, Align align) {
  const auto cell = [path](const Json& row) {
    const Json value = at(row, path);
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  };
  return {header, cell, align};
}

Column number(const std::string& header, const std::string& path,
              std::string (*format)(double number)) {
  const auto cell = [=](const Json& row) {
    const Json value = at(row, path);
    return value.is_null() ? "-" : format(value.get<double>());
  };
  return {header, cell};
}

std::string table(const Json& rows, const std::vector<Column>& columns) {
  std::vector<Cells> lines(2);
  for (const Json& row : rows) {
    Cells& cells = lines.emplace_back();
    if (!row.is_object()) continue;
    for (const Column& column : columns) cells.push_back(escaped(column.cell(row)));
  }
  for (const Column& column : columns) lines[0].push_back(column.header);
  const std::vector<std::size_t> widths = widths_of(columns, lines);
  for (const std::size_t width : widths) lines[1].emplace_back(width, '-');
  std::string page = row_text(lines[0], columns, widths) + row_text(lines[1], columns, widths);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    page += row.is_object()   ? row_text(lines[i + 2], columns, widths)
            : row.is_string() ? escaped(row.get<std::string>()) + "\n"
                              : "\n";
  }
  return page;
}

Json joined_by_isa(const Json& rows) {
  Json joined = Json::array();
  const auto without_isa = [](Json row) {
    row.erase("isa");
    return row;
  };
  for (const Json& row : rows) {
    if (joined.empty() || without_isa(joined.back()) != without_isa(row)) {
      joined.push_back(row);
    } else {
      Json& isas = joined.back()["isa"];
      isas = isas.get<std::string>() + " " + row.at("isa").get<std::string>();
    }
  }
  return joined;
}

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
    for (const std::string& line : broken(text.substr(0, end), page_width - indent.size()))
      page += fmt::format("{}{}\n", indent, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return page;
}

}  // namespace posenc::cli
