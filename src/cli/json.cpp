#include "cli/json.h"

#include "posenc/cpu.h"
#include "posenc/version.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace posenc::cli {
namespace {

constexpr int format_version = 1;

Json to_json(const ErrorSummary& error) {
  return {{"max_abs", error.max_abs}, {"max_ulp", error.max_ulp}, {"rms", error.rms}};
}

Json to_json(const WorstEntry& worst) {
  return {{"position", worst.position},
          {"channel", worst.channel},
          {"got", worst.got},
          {"expected", worst.expected},
          {"abs_error", std::abs(worst.got - worst.expected)}};
}

Json to_json(const AccuracyReport& report) {
  Json result = {{"entries", report.entries},
                 {"reference", report.reference},
                 {"wrongly_rounded", report.wrongly_rounded},
                 {"max_abs_from_div_term", report.max_abs_from_div_term},
                 {"worst", to_json(report.worst)},
                 {"quantiles", Json::array()},
                 {"by_position", Json::array()},
                 {"by_channel", Json::array()}};
  for (const Quantile& each : report.quantiles) {
    result["quantiles"].push_back({{"share", each.share}, {"abs_error", each.abs_error}});
  }
  for (const PositionError& each : report.by_position) {
    Json octave = posenc::to_json(each.rows);
    octave.update(to_json(each.error));
    result["by_position"].push_back(std::move(octave));
  }
  for (std::size_t channel = 0; channel < report.by_channel.size(); ++channel) {
    Json entry = {{"channel", channel}};
    entry.update(to_json(report.by_channel[channel]));
    result["by_channel"].push_back(std::move(entry));
  }
  return result;
}

}  // namespace

Json new_document() {
  return {{"version", format_version},
          {"library_version", library_version()},
          {"compiler", compiler()},
          {"machine", posenc::to_json(cpu())}};
}

std::string accuracy_json(const std::vector<AccuracyReport>& reports) {
  Measurements document = measurements_of_this_machine();
  for (const AccuracyReport& each : reports) document.all.push_back(each.measurement());
  Json json = posenc::to_json(document);
  for (std::size_t i = 0; i < reports.size(); ++i)
    json["measurements"][i]["report"] = to_json(reports[i]);
  return text_of(json);
}

}  // namespace posenc::cli
