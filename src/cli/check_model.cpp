#include "cli/check_model.h"

#include "cli/commands.h"

#include "posenc/check/frequencies.h"
#include "posenc/check/table_file.h"
#include "posenc/support/with_type.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace posenc::cli {

using namespace model;
using namespace suite;

namespace {

/// The name without the modules that hold the tensor.
std::string_view last_name(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool is_frequencies(std::string_view name) { return last_name(name).ends_with("inv_freq"); }

bool is_cache(std::string_view name) {
  constexpr std::string_view known[] = {"cos_cached",  "sin_cached",   "cos_cache", "sin_cache",
                                        "_cos_cached", "_sin_cached",  "freqs_cis", "freqs_cos",
                                        "freqs_sin",   "cos_sin_cache"};
  return std::ranges::count(known, last_name(name)) > 0;
}

bool is_sliding(std::string_view text) {
  return text.find("sliding") != text.npos || text.find("local") != text.npos;
}

/// The embeddings that the tensor may belong to: of the kind of layers that its name tells, or of
/// all kinds; under LongRoPE with either list of factors.
std::vector<RotarySpec> likely(const Options& options, std::string_view name) {
  std::vector<RotarySpec> all;
  for (const std::int64_t rows : {0, 1}) {
    const RotaryReading reading = rows == 0 ? reading_of(options) : reading_of(options, rows);
    for (const RotaryReading::Layers& each : reading.layers) {
      const bool is_other = reading.layers.size() > 1 && is_sliding(each.kind) != is_sliding(name);
      if (!is_other && (options.layers.empty() || options.layers == each.kind))
        add_once(all, each.rotary);
    }
  }
  return all;
}

std::vector<double> values_of(const check::TableInMemory& row) {
  std::vector<double> values;
  with_type(row.stored.type, [&]<class T>(T) {
    const auto* const first = reinterpret_cast<const T*>(row.elements.get());
    std::transform(first, first + row.stored.columns, std::back_inserter(values),
                   [](T each) { return to_double(each); });
  });
  return values;
}

Json judged_frequencies(const Options& options) {
  const check::TableInMemory row = check::read_table(
      options.table, {.tensor = options.tensor, .holds = check::Holds::frequencies});
  std::vector<check::FrequencyReport> reports;
  for (const RotarySpec& each : likely(options, options.tensor))
    reports.push_back(check::frequencies(values_of(row), spec_of_equal_positions(each.angles)));
  const auto right = std::ranges::find_if(reports, &check::FrequencyReport::is_good);
  const check::FrequencyReport& report = right == reports.end() ? reports.front() : *right;
  return {{"dtype", to_string(row.stored.type)},
          {"verdict", report.is_good ? "right" : "wrong"},
          {"max_error", report.max_relative_error},
          {"what", check::frequencies_text(report)},
          {"cause", report.cause}};
}

Json judged_cache(const check::TableReport& report) {
  return {{"dtype", to_string(report.type)},
          {"verdict", to_string(report.verdict())},
          {"max_error", report.errors.error.max_abs},
          {"what", check::identity_text(report)},
          {"cause", check::cause_text(report)}};
}

}  // namespace

std::vector<std::string> model_tables(const std::string& file) {
  std::vector<std::string> names = check::tensor_names(file);
  std::erase_if(names,
                [](const std::string& name) { return !is_frequencies(name) && !is_cache(name); });
  return names;
}

int check_model(const Options& options, const std::vector<std::string>& tensors,
                const std::function<check::TableReport(const Options&)>& judge) {
  Json document = new_document();
  Json& rows = document["tensors"] = Json::array();
  std::size_t wrong = 0;
  for (const std::string& name : tensors) {
    Options one = options;
    one.tensor = name;
    Json row = in_place("tensor " + name, [&] {
      return is_frequencies(name) ? judged_frequencies(one) : judged_cache(judge(one));
    });
    row["name"] = name;
    wrong += row["verdict"] != "right" ? 1 : 0;
    rows.push_back(std::move(row));
  }
  Json shown = Json::array();
  for (const Json& row : rows) {
    shown.push_back(row);
    if (row["verdict"] == "right") continue;
    for (const char* const part : {"what", "cause"})
      for (const std::string& line : broken(row[part].get<std::string>(), 96))
        shown.push_back("    " + line);
  }
  const std::string page =
      table(shown, {text("tensor", "/name"), text("verdict", "/verdict"), text("dtype", "/dtype"),
                    number("max |error|", "/max_error", error_text)});
  write_document(options, document,
                 fmt::format("{} tensors of frequencies and rotary caches, {} of them wrong\n\n{}",
                             tensors.size(), wrong, page));
  return wrong == 0 ? good : check_failed;
}

}  // namespace posenc::cli
