#include "cli/compare_reports.h"

#include "cli/table.h"
#include "cli/text.h"

#include "posenc/suite/measuring/measurement_json.h"
#include "posenc/support/input_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace posenc::cli {

using namespace suite;
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The largest error of each octave of positions, or of each channel.
struct Part {
  std::string name;
  double max_abs;
  bool operator==(const Part&) const = default;
};

/// The errors of one or more backends, all the same.
struct Report {
  std::string origin;  ///< "A" or "B"
  std::string backend;
  std::vector<std::string> isas;
  MeasuredTable table;
  MeasuredError error;
  std::int64_t worst_position, worst_channel;
  std::vector<Part> by_position, by_channel;

  bool has_errors_of(const Report& other) const {
    return origin == other.origin && backend == other.backend && error == other.error &&
           by_position == other.by_position && by_channel == other.by_channel;
  }
  std::string title() const { return fmt::format("{} {}:{}", origin, backend, isas.front()); }
};

Report report_from(const std::string& origin, const Measurement& measured, const JsonNode& node) {
  Report report = {.origin = origin,
                   .backend = measured.backend,
                   .isas = {measured.isa},
                   .table = measured.table,
                   .error = *measured.error,
                   .worst_position = node["worst"]["position"].integer(-max_position, max_position),
                   .worst_channel = node["worst"]["channel"].integer(0, max_d_model),
                   .by_position = {},
                   .by_channel = {}};
  for (const JsonNode& each : node["by_position"].elements()) {
    const RowRange rows = {each["first"].integer(-max_position, max_position),
                           each["count"].integer(1, max_position)};
    report.by_position.push_back(
        {positions_text(rows), each["max_abs"].non_negative(not_a_number)});
  }
  for (const JsonNode& each : node["by_channel"].elements()) {
    report.by_channel.push_back({fmt::format("{}", each["channel"].integer(0, max_d_model)),
                                 each["max_abs"].non_negative(not_a_number)});
  }
  return report;
}

/// Adds the reports of a document. Of one that has none, nothing.
void add_reports(std::vector<Report>& reports, const std::string& origin, const std::string& file,
                 const std::regex& names) try {
  const Json document = parse_json(read_document(file));
  for (const JsonNode& node : JsonNode{document, ""}["measurements"].elements()) {
    if (!node.has("report")) continue;
    const Measurement measured = measurement_from(node);
    if (!measured.error || !std::regex_search(measured.full_name(), names)) continue;
    Report report = report_from(origin, measured, node["report"]);
    const auto same = std::ranges::find_if(
        reports, [&](const Report& each) { return each.has_errors_of(report); });
    if (same == reports.end()) {
      reports.push_back(std::move(report));
    } else {
      same->isas.push_back(measured.isa);
    }
  }
} catch (const BadDocument& error) {
  throw InvalidArgument(
      fmt::format("document is {}: {}; allowed: JSON of posenc accuracy", file, error.what()));
}

std::string whole_table(const std::vector<Report>& reports) {
  Table table({{"in", Align::left},
               {"backend", Align::left},
               {"ISA", Align::left},
               {"max |error|"},
               {"RMS"},
               {"correct"},
               {"worst: row, channel"}});
  for (const Report& each : reports) {
    table.add_row({each.origin, each.backend, fmt::format("{}", fmt::join(each.isas, " ")),
                   error_text(each.error.max_abs), error_text(each.error.rms),
                   percent_text(each.error.correctly_rounded),
                   fmt::format("{}, {}", each.worst_position, each.worst_channel)});
  }
  return table.text();
}

/// The largest errors of parts of the table, a column a report. Reports that do not fit beside each
/// other are in tables below each other.
std::string parts_table(const std::vector<Report>& reports, const std::string& what,
                        std::vector<Part> Report::*parts, const std::vector<std::size_t>& shown) {
  std::size_t names_width = what.size();
  for (const std::size_t i : shown)
    names_width = std::max(names_width, (reports.front().*parts)[i].name.size());
  std::string text;
  for (auto first = reports.begin(); first != reports.end();) {
    std::vector<Column> columns = {{what, Align::left}};
    std::size_t width = names_width;
    auto last = first;
    do {
      columns.push_back({last->title()});
      width += 2 + last->title().size();
    } while (++last != reports.end() && width + 2 + last->title().size() <= page_width);
    Table table(columns);
    for (const std::size_t i : shown) {
      std::vector<Cell> cells = {((*first).*parts)[i].name};
      for (auto each = first; each != last; ++each)
        cells.emplace_back(error_text(((*each).*parts)[i].max_abs));
      table.add_row(std::move(cells));
    }
    text += (text.empty() ? "" : "\n") + table.text();
    first = last;
  }
  return text;
}

bool have_the_same_parts(const std::vector<Report>& reports) {
  const Report& first = reports.front();
  return std::ranges::all_of(reports, [&](const Report& each) {
    return each.table == first.table &&
           std::ranges::equal(each.by_position, first.by_position, {}, &Part::name, &Part::name) &&
           std::ranges::equal(each.by_channel, first.by_channel, {}, &Part::name, &Part::name);
  });
}

/// All octaves; of the channels, those with the largest errors of any report.
std::vector<std::size_t> worst_channels(const std::vector<Report>& reports) {
  constexpr std::size_t most_shown = 8;
  std::vector<double> largest(reports.front().by_channel.size(), 0.0);
  for (const Report& each : reports) {
    for (std::size_t i = 0; i < largest.size(); ++i)
      largest[i] = std::max(largest[i], each.by_channel[i].max_abs);
  }
  std::vector<std::size_t> order(largest.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return largest[i]; });
  order.resize(std::min(order.size(), most_shown));
  return order;
}

}  // namespace

std::string reports_side_by_side(const std::string& a, const std::string& b,
                                 const std::regex& names) {
  std::vector<Report> reports;
  add_reports(reports, "A", a, names);
  const std::size_t of_a = reports.size();
  add_reports(reports, "B", b, names);
  if (of_a == 0 || of_a == reports.size() || !have_the_same_parts(reports)) return "";
  std::vector<std::size_t> octaves(reports.front().by_position.size());
  for (std::size_t i = 0; i < octaves.size(); ++i) octaves[i] = i;
  const MeasuredTable& table = reports.front().table;
  const std::string title = wrapped(fmt::format(
      "Accuracy of a {} table of {}, positions {}, {}\n", shape_text(table.spec, table.rows),
      to_string(table.type), positions_text(table.rows), spec_text(table.spec)));
  return fmt::format(
      "{}\n{}\nLargest |error| by position\n\n{}\n"
      "Largest |error| of the worst channels\n\n{}",
      title, whole_table(reports), parts_table(reports, "positions", &Report::by_position, octaves),
      parts_table(reports, "channel", &Report::by_channel, worst_channels(reports)));
}

}  // namespace posenc::cli
