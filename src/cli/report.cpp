#include "cli/report.h"

#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace posenc::cli {
namespace {

bool is_marked(const Json& row) {
  return row.is_object() && (row.value("role", "") == "peer" || !row.value("can_be_picked", true));
}

std::string share_text(double share) { return fmt::format("{:g} %", 100 * share); }

/// The columns, and those of an error.
std::vector<Column> with_errors(std::vector<Column> columns) {
  columns.push_back(number("max |error|", "/max_abs", error_text));
  columns.push_back(number("max ulp", "/max_ulp", ulp_text));
  columns.push_back(number("RMS", "/rms", error_text));
  return columns;
}

}  // namespace

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
  return number(header, path, [](double speed) { return fmt::format("{:.2f}", speed); });
}

Column positions_column(const std::string& header) {
  const auto cell = [](const Json& row) {
    return positions_text(
        {row.at("first").get<std::int64_t>(), row.at("count").get<std::int64_t>()});
  };
  return {header, cell, Align::left};
}

Json to_json(const ErrorSummary& error) {
  return {{"max_abs", error.max_abs}, {"max_ulp", error.max_ulp}, {"rms", error.rms}};
}

Json to_json(const AccuracyReport& report) {
  const WorstEntry& worst = report.worst;
  Json result = {{"entries", report.entries},
                 {"reference", report.reference},
                 {"wrongly_rounded", report.wrongly_rounded},
                 {"max_abs_from_div_term", report.max_abs_from_div_term},
                 {"worst",
                  {{"position", worst.position},
                   {"channel", worst.channel},
                   {"got", worst.got},
                   {"expected", worst.expected},
                   {"abs_error", std::abs(worst.got - worst.expected)}}},
                 {"quantiles", Json::array()},
                 {"by_position", Json::array()},
                 {"by_channel", Json::array()}};
  const auto add = [&result](const char* list, Json entry, const ErrorSummary& error) {
    entry.update(to_json(error));
    result[list].push_back(std::move(entry));
  };
  for (const auto& [share, error] : report.quantiles)
    result["quantiles"].push_back({{"share", share}, {"abs_error", error}});
  for (const auto& [rows, error] : report.by_position)
    add("by_position", suite::to_json(rows), error);
  for (std::size_t channel = 0; channel < report.by_channel.size(); ++channel)
    add("by_channel", {{"channel", channel}}, report.by_channel[channel]);
  return result;
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

std::string details_page(const Json& report, DataType type,
                         const std::function<std::string(std::int64_t channel)>& content_of) {
  const Json& worst = report.at("worst");
  const auto content = [&](const Json& row) {
    return content_of(row.at("channel").get<std::int64_t>());
  };
  return fmt::format(
      "Worst entry, at position {}, channel {}\n"
      "  got    {:.{}g}\n  exact  {:.17g}\n  error  {}\n"
      "\nQuantiles\n\n{}\nBy position\n\n{}\nWorst channels\n\n{}",
      worst.at("position").get<std::int64_t>(), worst.at("channel").get<std::int64_t>(),
      worst.at("got").get<double>(), type == DataType::float64 ? 17 : 9,
      worst.at("expected").get<double>(), error_text(worst.at("abs_error").get<double>()),
      table(report.at("quantiles"), {number("share of entries", "/share", share_text),
                                     number("|error| at most", "/abs_error", error_text)}),
      table(report.at("by_position"), with_errors({positions_column("positions")})),
      table(largest(report.at("by_channel"), "/max_abs", 8),
            with_errors(
                {text("channel", "/channel", Align::right), {"holds", content, Align::left}})));
}

std::string table_title(const EncodingSpec& spec, RowRange rows, DataType type) {
  return fmt::format("Accuracy of a {} table of {} x {}, positions {}, {}\n", to_string(type),
                     rows.count, spec.d_model, positions_text(rows), spec_text(spec));
}

}  // namespace posenc::cli
