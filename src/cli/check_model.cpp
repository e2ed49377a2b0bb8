// The tables and frequencies in a model's .safetensors file.
#include "cli/commands.h"

#include "posenc/check/frequencies.h"
#include "posenc/check/table_file.h"
#include "posenc/error.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
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

/// The configuration describes the text model, and not these parts of a multimodal model.
bool is_other_part(std::string_view name) {
  constexpr std::string_view parts[] = {"vision", "visual", "image", "audio", "tower", "talker"};
  return std::ranges::any_of(parts,
                             [&](std::string_view part) { return name.find(part) != name.npos; });
}

/// The kinds of layers that the tensor may belong to, by what its name tells.
Names likely_kinds(const Options& options, std::string_view name) {
  if (!options.layers.empty()) return {options.layers};
  Names all, sliding;
  for (const RotaryReading::Layers& each : reading_of(options).layers) {
    all.push_back(each.kind);
    if (is_sliding(each.kind)) sliding.push_back(each.kind);
  }
  return is_sliding(name) && !sliding.empty() ? sliding : all;
}

/// Judges the frequencies of each kind of layers; under LongRoPE with either list of factors.
Json judged_frequencies(const Options& options, const Names& kinds) {
  const check::TableInMemory row = check::read_table(
      options.table, {.tensor = options.tensor, .holds = check::Holds::frequencies});
  std::vector<double> values;
  for (std::int64_t k = 0; k < row.stored.columns; ++k) values.push_back(row.view()(0, k));
  std::vector<check::FrequencyReport> reports;
  for (const std::string& kind : kinds) {
    for (const RotaryReading& reading : {reading_of(options), reading_of(options, 1)}) {
      const auto spec = spec_of_equal_positions(layers_of(reading, kind).rotary.angles);
      reports.push_back(check::frequencies(values, spec));
    }
  }
  const auto right = std::ranges::find_if(reports, &check::FrequencyReport::is_good);
  const check::FrequencyReport& report = right == reports.end() ? reports.front() : *right;
  return {{"dtype", to_string(row.stored.type)},
          {"verdict", report.is_good ? "good" : "wrong"},
          {"max_error", report.max_relative_error},
          {"what", check::frequencies_text(report)},
          {"cause", report.cause}};
}

/// Judges a cache as the cache of each kind of layers.
Json judged_cache(Options options, const Names& kinds) {
  std::vector<check::TableReport> reports;
  for (const std::string& kind : kinds) {
    options.layers = kind;
    reports.push_back(judged_table(options));
    if (reports.back().is_good) break;
  }
  const auto rank = [](const check::TableReport& each) {
    return each.is_good ? 2 : each.is_inexact() ? 1 : 0;
  };
  const check::TableReport& report = *std::ranges::max_element(reports, {}, rank);
  return {{"dtype", to_string(report.type)},
          {"verdict", report.is_good        ? "good"
                      : report.is_inexact() ? "inexact"
                                            : "wrong"},
          {"max_error", report.errors.error.max_abs},
          {"what", check::identity_text(report)},
          {"cause", check::cause_text(report)}};
}

/// The verdict on a tensor; also if it cannot be a tensor of the model.
Json judged_tensor(const Options& options) {
  const Names kinds = likely_kinds(options, options.tensor);
  layers_of(reading_of(options), kinds.front());  // throws if --layers names no kind
  try {
    return is_frequencies(options.tensor) ? judged_frequencies(options, kinds)
                                          : judged_cache(options, kinds);
  } catch (const InvalidArgument& error) {
    return {{"dtype", ""}, {"verdict", "wrong"}, {"what", ""}, {"cause", error.what()}};
  }
}

}  // namespace

Names model_tables(const std::string& file) {
  Names names = check::tensor_names(file);
  std::erase_if(names, [](const std::string& name) {
    return is_other_part(name) || (!is_frequencies(name) && !is_cache(name));
  });
  return names;
}

int check_model(const Options& options, const Names& tensors) {
  Json document = new_document(), shown = Json::array();
  std::size_t wrong = 0;
  for (const std::string& name : tensors) {
    Options one = options;
    one.tensor = name;
    Json row = judged_tensor(one);
    row["name"] = name;
    document["tensors"].push_back(row);
    shown.push_back(row);
    if (row["verdict"] == "good") continue;
    wrong += row["verdict"] == "wrong";
    for (const char* const part : {"what", "cause"})
      for (const std::string& line : broken(row[part].get<std::string>(), 96))
        shown.push_back("    " + line);
  }
  const std::string page =
      table(shown, {text("tensor", "/name"), text("verdict", "/verdict"), text("dtype", "/dtype"),
                    number("max |error|", "/max_error", error_text)});
  write_document(options, document,
                 fmt::format("{} tensor{} of frequencies and rotary caches, {} of them wrong\n\n{}",
                             tensors.size(), tensors.size() == 1 ? "" : "s", wrong, page));
  return wrong == 0 ? good : check_failed;
}

}  // namespace posenc::cli
