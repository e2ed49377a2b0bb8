#include "cli/json.h"

#include "cli/accuracy_json.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/support/read_file.h"
#include "posenc/version.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

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

}  // namespace

Json new_document() {
  Json isas = Json::array();
  for (const Isa isa : cpu().isas) isas.push_back(to_string(isa));
  return {{"version", format_version},
          {"library_version", library_version()},
          {"compiler", compiler()},
          {"cpu", {{"model", cpu().model}, {"isas", isas}}}};
}

Json to_json(const EncodingSpec& spec) {
  Json json = {{"d_model", spec.d_model},
               {"base", spec.base},
               {"layout", to_string(spec.layout)},
               {"spacing", to_string(spec.spacing)}};
  if (!is_base(spec.frequencies)) json["frequencies"] = to_string(spec.frequencies);
  return json;
}

Json to_json(RowRange rows) { return {{"first", rows.first}, {"count", rows.count}}; }

Json to_json(const AccuracyReport& report) {
  Json result = {{"backend", report.backend},    {"isa", to_string(report.isa)},
                 {"spec", to_json(report.spec)}, {"dtype", to_string(report.type)},
                 {"rows", to_json(report.rows)}, {"entries", report.entries},
                 {"reference", report.reference}};
  result.update(to_json(report.error));
  result["error_bound"] = report.error_bound;
  result["can_be_picked"] = !is_peer(report.backend, report.isa);
  result["correctly_rounded"] = report.correctly_rounded;
  result["wrongly_rounded"] = report.wrongly_rounded;
  result["max_abs_from_div_term"] = report.max_abs_from_div_term;
  result["worst"] = to_json(report.worst);
  result["quantiles"] = Json::array();
  for (const Quantile& each : report.quantiles) {
    result["quantiles"].push_back({{"share", each.share}, {"abs_error", each.abs_error}});
  }
  result["by_position"] = Json::array();
  for (const PositionError& each : report.by_position) {
    Json octave = to_json(each.rows);
    octave.update(to_json(each.error));
    result["by_position"].push_back(std::move(octave));
  }
  result["by_channel"] = Json::array();
  for (std::size_t channel = 0; channel < report.by_channel.size(); ++channel) {
    Json entry = {{"channel", channel}};
    entry.update(to_json(report.by_channel[channel]));
    result["by_channel"].push_back(std::move(entry));
  }
  return result;
}

std::string accuracy_json(const std::vector<AccuracyReport>& reports) {
  Json document = new_document();
  document["results"] = Json::array();
  for (const AccuracyReport& each : reports) document["results"].push_back(to_json(each));
  return text_of(document);
}

std::string text_of(const Json& document) {
  constexpr bool ensure_ascii = true;  // no control characters for a terminal
  return document.dump(2, ' ', ensure_ascii, Json::error_handler_t::replace) + "\n";
}

Json read_json(const std::string& file) {
  std::string text;
  try {
    text = read_file(file);
  } catch (const std::system_error& error) {
    throw InvalidArgument(
        fmt::format("{} cannot be read ({}); allowed: a JSON file", file, error.code().message()));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw InvalidArgument(
        fmt::format("{} is not JSON (byte {}); allowed: a JSON file", file, error.byte));
  } catch (const Json::exception&) {
    throw InvalidArgument(
        fmt::format("{} is not JSON (a number out of range); allowed: a JSON file", file));
  }
}

}  // namespace posenc::cli
