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
    Json octave = suite::to_json(each.rows);
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

Json to_json(const TableIdentity& identity) {
  Json result = {{"arrangement", to_string(identity.arrangement)},
                 {"d_model", identity.spec.d_model},
                 {"base", identity.spec.base},
                 {"spacing", to_string(identity.spec.spacing)},
                 {"frequencies", to_string(identity.spec.frequencies)},
                 {"first", identity.first},
                 {"step", identity.step},
                 {"factor", identity.factor},
                 {"has_negated_sines", identity.has_negated_sines},
                 {"padding_row", nullptr},
                 {"presets", identity.presets}};
  if (identity.padding_row) result["padding_row"] = *identity.padding_row;
  return result;
}

}  // namespace

Json new_document() {
  return {{"version", format_version},
          {"library_version", library_version()},
          {"compiler", compiler()},
          {"machine", suite::to_json(cpu())}};
}

std::string accuracy_json(const std::vector<AccuracyReport>& reports) {
  Measurements document = measurements_of_this_machine();
  for (const AccuracyReport& each : reports) document.all.push_back(each.measurement());
  Json json = suite::to_json(document);
  for (std::size_t i = 0; i < reports.size(); ++i)
    json["measurements"][i]["report"] = to_json(reports[i]);
  return text_of(json);
}

std::string check_json(const CheckReport& report) {
  Json json = new_document();
  json["table"] = {
      {"rows", report.rows}, {"columns", report.columns}, {"dtype", to_string(report.type)}};
  json["good"] = report.is_good;
  json["identified"] = report.is_identified;
  json["causes"] = Json::array();
  for (const Cause& each : report.causes) {
    json["causes"].push_back(
        {{"kind", to_string(each.kind)}, {"text", each.text}, {"rival", each.is_rival}});
  }
  json["entries_not_finite"] = report.entries_not_finite;
  if (!report.is_identified) return text_of(json);
  json["identity"] = to_json(report.identity);
  json["allowed_error"] = report.allowed_error;
  json["entries_off"] = report.entries_off;
  json["error"] = to_json(report.errors.error);
  json["correctly_rounded"] = report.errors.correctly_rounded;
  json["report"] = to_json(report.errors);
  json["report"].erase("max_abs_from_div_term");
  return text_of(json);
}

}  // namespace posenc::cli
