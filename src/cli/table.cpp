#include "cli/table.h"

#include "posenc/support/printable.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <string_view>

namespace posenc::cli {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t least_wrapped = 8;

using Cells = std::vector<std::string>;

/// Number of characters of UTF-8 text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Of the columns: as wide as their cells, and narrower for wrapped ones if the page ends before.
std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<Cells>& lines) {
  std::vector<std::size_t> widths(columns.size());
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width_of(line[i]));
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
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
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

std::vector<std::string> broken(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t used = width_of(lines.back());
    if (used > 0 && used + 1 + width_of(word) > width) lines.emplace_back();
    for (; word.size() > width; word.erase(0, width)) {
      lines.back() = word.substr(0, width);
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string wrapped(const std::string& text) {
  std::string page, line;
  std::istringstream lines(text);
  while (std::getline(lines, line)) {
    for (const std::string& each : broken(line, page_width)) page += each + '\n';
  }
  return page;
}

}  // namespace posenc::cli
