#include "cli/report.h"

#include "posenc/check/columns.h"
#include "posenc/check/report.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/support/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <sstream>
#include <utility>

namespace posenc::cli {

using namespace suite;

namespace {

constexpr const char* byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr const char* time_units[] = {"ns", "us", "ms", "s"};

/// The value in the largest unit in which it is at least 1.
std::string with_unit(double value, double step, std::span<const char* const> units) {
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  const int digits = value == std::floor(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

constexpr std::string_view gap = "  ";
constexpr std::size_t least_wrapped = 18;

using Cells = std::vector<std::string>;

/// Number of characters of UTF-8 text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Widths of the columns. A column is as wide as its cells; wrapped columns are narrower if the
/// page would be too wide.
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

/// One row of the table. It takes as many lines as its tallest cell.
std::string row_text(const Cells& cells, const std::vector<Column>& columns,
                     const std::vector<std::size_t>& widths) {
  std::vector<Cells> parts;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool breaks = columns[i].align == Align::wrapped;
    parts.push_back(breaks ? broken(cells[i], widths[i]) : Cells{cells[i]});
    height = std::max(height, parts.back().size());
  }
  std::string text;
  for (std::size_t l = 0; l < height; ++l) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string content = l < parts[i].size() ? parts[i][l] : "";
      line += columns[i].align == Align::right ? fmt::format("{:>{}}{}", content, widths[i], gap)
                                               : fmt::format("{:<{}}{}", content, widths[i], gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

bool is_marked(const Json& row) {
  return row.is_object() && (row.value("role", "") == "peer" || !row.value("can_be_picked", true));
}

/// "0 .. 4999"
std::string positions_text(RowRange rows) {
  const std::string first = fmt::to_string(rows.first);
  return rows.count == 1 ? first : fmt::format("{} .. {}", first, rows.first + rows.count - 1);
}

std::string share_text(double share) { return fmt::format("{:g} %", 100 * share); }

/// The histogram of errors in ulp. Bars without entries are left out, because a few errors may
/// spread over many powers of two.
std::string histogram(const Json& bars, double entries) {
  constexpr double longest_bar = 50;
  Json rows = Json::array();
  double most = 1;
  for (const Json& each : bars) {
    const auto count = each.at("entries").get<double>();
    if (count > 0) rows.push_back(each);
    most = std::max(most, count);
  }
  const auto power = [](double ulp) { return fmt::format("{:.6g}", ulp); };
  const auto share = [=](double count) { return percent_text(count / entries); };
  const auto bar = [=](double count) {
    return std::string(static_cast<std::size_t>(std::ceil(longest_bar * count / most)), '#');
  };
  return table(rows, {number("above", "/above", power), number("to", "/to", power),
                      number("entries", "/entries", count_text), number("share", "/entries", share),
                      number("", "/entries", bar, Align::left)});
}

/// Appends the columns of an error to the given columns.
std::vector<Column> with_errors(std::vector<Column> columns) {
  columns.push_back(number("max |error|", "/max_abs", error_text));
  columns.push_back(number("max ulp", "/max_ulp", ulp_text));
  columns.push_back(number("RMS", "/rms", error_text));
  columns.push_back(number("mean", "/mean", error_text));
  return columns;
}

/// The largest errors of the parts of a table, with one column per report. The reports list their
/// parts under the name `list`. If there are more than `most` parts, only the worst are shown.
std::string parts_page(const Json& reports, const std::string& list, const Column& part,
                       std::size_t most) {
  constexpr std::size_t most_columns = 3;
  Json rows = reports[0].at("report").at(list);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i]["largest"] = 0.0;
    for (std::size_t r = 0; r < reports.size(); ++r) {
      const Json& error = reports[r].at("report").at(list).at(i).at("max_abs");
      rows[i][std::to_string(r)] = error;
      if (error.is_number() && error > rows[i]["largest"]) rows[i]["largest"] = error;
    }
  }
  if (rows.size() > most) rows = largest(rows, "/largest", most);
  std::string page;
  for (std::size_t first = 0; first < reports.size(); first += most_columns) {
    std::vector<Column> columns = {part};
    for (std::size_t r = first; r < std::min(first + most_columns, reports.size()); ++r) {
      const std::string origin = reports[r].value("origin", "");  // set by posenc compare
      columns.push_back(number((origin.empty() ? "" : origin + " ") + name_of(reports[r]),
                               "/" + std::to_string(r), error_text));
    }
    page += "\n" + table(rows, columns);
  }
  return page;
}

}  // namespace

std::string name_of(const Json& row) {
  const std::string isas = row.at("isa").get<std::string>();
  return row.at("backend").get<std::string>() + ":" + isas.substr(0, isas.find(' '));
}

std::string ulp_text(double ulp) {
  if (!(ulp < 1e4)) return fmt::format("{:.2e}", ulp);
  return fmt::format("{:.{}f}", ulp, ulp < 100 ? 3 : 1);
}

std::string percent_text(double share) {
  const std::string text = fmt::format("{:.4f} %", 100 * share);
  return share < 1 && text == "100.0000 %" ? ">99.9999 %" : text;
}

std::string count_text(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ' ');
  return text;
}

std::string bytes_text(double bytes) { return with_unit(bytes, 1024, byte_units); }
std::string seconds_text(double seconds) { return with_unit(1e9 * seconds, 1000, time_units); }

std::string spec_text(const EncodingSpec& spec) {
  const std::string rule = to_string(spec.frequencies);
  return fmt::format("base {}, layout {}, spacing {}{}", spec.base, to_string(spec.layout),
                     to_string(spec.spacing),
                     is_base(spec.frequencies) ? "" : ", frequencies " + rule);
}

Json at(const Json& row, const std::string& path) {
  const Json::json_pointer pointer(path);
  return row.contains(pointer) ? row.at(pointer) : Json();
}

Json largest(const Json& rows, const std::string& path, std::size_t count) {
  auto sorted = rows.get<std::vector<Json>>();
  std::ranges::stable_sort(sorted, std::greater(), [&path](const Json& row) {
    const Json value = at(row, path);
    return value.is_number() ? value.get<double>() : 0.0;
  });
  sorted.resize(std::min(sorted.size(), count));
  return sorted;
}

Column text(const std::string& header, const std::string& path, Align align) {
  const auto cell = [path](const Json& row) {
    const Json value = at(row, path);
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  };
  return {header, cell, align};
}

Column number(const std::string& header, const std::string& path,
              const std::function<std::string(double number)>& format, Align align) {
  const auto cell = [=](const Json& row) {
    const Json value = at(row, path);
    const bool is_shown = value.is_number() && !std::isnan(value.get<double>());
    return is_shown ? format(value.get<double>()) : "-";
  };
  return {header, cell, align};
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

Column backend_column(bool with_isa) {
  const auto cell = [with_isa](const Json& row) {
    const std::string isa = row.at("isa").get<std::string>();
    return row.at("backend").get<std::string>() + (with_isa && !isa.empty() ? ":" + isa : "") +
           (is_marked(row) ? "*" : "");
  };
  return {"backend", cell, Align::left};
}

std::string explained_mark(const Json& rows) {
  return std::ranges::any_of(rows, is_marked) ? "* not part of the library, cannot be picked\n"
                                              : "";
}

Column speed_column(const std::string& header, const std::string& path) {
  return number(header, path, [](double speed) {
    return speed < 0.1 ? fmt::format("{:.2g}", speed) : fmt::format("{:.2f}", speed);
  });
}

Column positions_column(const std::string& header) {
  const auto cell = [](const Json& row) {
    return positions_text({row.at("first"), row.at("count")});
  };
  return {header, cell, Align::left};
}

Json to_json(const ErrorSummary& error) {
  return {{"max_abs", error.max_abs},
          {"max_ulp", error.max_ulp},
          {"rms", error.rms},
          {"mean", error.mean}};
}

Json to_json(const WorstEntry& entry) {
  return {{"position", entry.position}, {"channel", entry.channel},     {"got", entry.got},
          {"expected", entry.expected}, {"abs_error", entry.abs_error}, {"ulp", entry.ulps}};
}

Json to_json(const ErrorMap& map) {
  Json largest = Json::array();
  for (const float error : map.largest)
    largest.push_back(std::stod(bound_text(double{error})));  // few digits
  return {{"rows", map.rows}, {"columns", map.columns}, {"largest", std::move(largest)}};
}

Json to_json(const AccuracyReport& report) {
  Json result = {{"entries", report.entries},
                 {"reference", report.reference},
                 {"wrongly_rounded", report.wrongly_rounded},
                 {"max_abs_from_div_term", report.max_abs_from_div_term},
                 {"worst", to_json(report.worst())},
                 {"worst_by_error", Json::array()},
                 {"worst_by_ulp", Json::array()},
                 {"quantiles", Json::array()},
                 {"by_ulp", Json::array()},
                 {"by_position", Json::array()},
                 {"by_channel", Json::array()},
                 {"map", to_json(report.map)}};
  for (const WorstEntry& each : report.worst_by_error)
    result["worst_by_error"].push_back(to_json(each));
  for (const WorstEntry& each : report.worst_by_ulp)
    result["worst_by_ulp"].push_back(to_json(each));
  const auto add = [&result](const char* list, Json entry, const ErrorSummary& error) {
    entry.update(to_json(error));
    result[list].push_back(std::move(entry));
  };
  for (const auto& [share, error, ulps] : report.quantiles)
    result["quantiles"].push_back({{"share", share}, {"abs_error", error}, {"ulp", ulps}});
  for (const auto& [above, to, entries] : report.by_ulp)
    result["by_ulp"].push_back({{"above", above}, {"to", to}, {"entries", entries}});
  for (const auto& [rows, error] : report.by_position)
    add("by_position", suite::to_json(rows), error);
  for (std::size_t channel = 0; channel < report.by_channel.size(); ++channel)
    add("by_channel", {{"channel", channel}}, report.by_channel[channel]);
  return result;
}

std::string side_by_side_page(const Json& reports) {
  constexpr std::size_t most_octaves = 128, most_channels = 8;
  return fmt::format(
      "\nLargest |error| by position\n{}\nLargest |error| of the worst channels\n{}",
      parts_page(reports, "by_position", positions_column("positions"), most_octaves),
      parts_page(reports, "by_channel", text("channel", "/channel", Align::right), most_channels));
}

std::string details_page(const Json& report, check::Arrangement arrangement) {
  const auto columns = static_cast<std::int64_t>(report.at("by_channel").size());
  const auto content = [&](const Json& row) {
    const auto channel = row.at("channel").get<std::int64_t>();
    const auto [k, is_cosine] = check::content_of(arrangement, columns, channel);
    return fmt::format("{}(pos w_{})", is_cosine ? "cos" : "sin", k);
  };
  return fmt::format(
      "\nQuantiles\n\n{}\nErrors in ulp\n\n{}\nBy position\n\n{}\nWorst channels\n\n{}",
      table(report.at("quantiles"), {number("share of entries", "/share", share_text),
                                     number("|error| at most", "/abs_error", bound_text),
                                     number("ulp at most", "/ulp", ulp_text)}),
      histogram(report.at("by_ulp"), report.at("entries").get<double>()),
      table(report.at("by_position"), with_errors({positions_column("positions")})),
      table(largest(report.at("by_channel"), "/max_abs", 8),
            with_errors(
                {text("channel", "/channel", Align::right), {"holds", content, Align::left}})));
}

std::string worst_page(const Json& report, DataType type) {
  const auto got = [type](const Json& row) {
    return fmt::format("{:.{}g}", row.at("got").get<double>(), type == DataType::float64 ? 17 : 9);
  };
  const auto exact = [](double value) { return fmt::format("{:.17g}", value); };
  const std::vector<Column> columns = {text("position", "/position", Align::right),
                                       text("channel", "/channel", Align::right),
                                       {"got", got},
                                       number("exact", "/expected", exact),
                                       number("|error|", "/abs_error", error_text),
                                       number("ulp", "/ulp", ulp_text)};
  const char* const errors = report.at("worst_by_error").size() == 1 ? "error" : "errors";
  return fmt::format("\nLargest {}\n\n{}\nLargest {} in ulp\n\n{}", errors,
                     table(report.at("worst_by_error"), columns), errors,
                     table(report.at("worst_by_ulp"), columns));
}

void add_refusal(Json& rows, const Json& refused) {
  const std::string text =
      name_of(refused) + " is not available: " + refused.at("not_available").get<std::string>();
  std::string indent;
  for (const std::string& line : broken(text, page_width - 2)) {
    rows.push_back(indent + line);
    indent = "  ";
  }
}

std::string table_title(const MeasuredTable& table) {
  return fmt::format("Accuracy of a {} table of {} x {}, positions {}, {}\n", to_string(table.type),
                     table.rows.count, table.spec.d_model, positions_text(table.rows),
                     spec_text(table.spec));
}

}  // namespace posenc::cli
