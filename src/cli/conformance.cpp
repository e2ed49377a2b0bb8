#include "cli/conformance.h"

#include "cli/commands.h"
#include "cli/little_endian.h"

#include "posenc/check/table.h"
#include "posenc/check/table_file.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/model/rotary.h"
#include "posenc/suite/files.h"
#include "posenc/support/with_type.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace posenc::cli {

using namespace model;
using namespace suite;

namespace {

/// Positions where float32 phases are still right, positions where they fail, and one that does not
/// fit in int32.
const std::vector<std::int64_t> conformance_positions = {0,     1,      40,      2048,
                                                         65536, 131071, 1048576, 2147483648};

struct ConformanceTable {
  std::string name;
  EncodingSpec spec;
  Names presets = {};  ///< the presets with this convention

  /// The attention factor of the rule, by which all entries are multiplied.
  double factor() const { return attention_factor(spec.frequencies); }
};

/// The conventions of the presets, each once, in 64 channels, and rules of rotary embeddings.
std::vector<ConformanceTable> conformance_tables() {
  std::vector<ConformanceTable> all;
  for (const Preset& preset : presets()) {
    EncodingSpec spec = preset.spec;
    spec.d_model = 64;
    const auto same = std::ranges::find(all, spec, &ConformanceTable::spec);
    if (same == all.end()) {
      all.push_back({std::string(preset.name), spec, {std::string(preset.name)}});
    } else {
      same->presets.emplace_back(preset.name);
    }
  }
  const struct {
    const char* name;
    std::int64_t d_model;
    double base;
    const char* rule;
  } rotary[] = {
      {"rotary_llama_3_2", 64, 5e5, "llama3:factor=32"},
      {"rotary_llama_4", 128, 5e5, "llama3:factor=16,high_frequency_factor=1"},
      {"rotary_qwen_2_5", 128, 1e6, "yarn:factor=4,trained_rows=32768,attention_factor=1"},
      {"rotary_deepseek_v3", 64, 1e4, "yarn:factor=40,trained_rows=4096,attention_factor=1"},
      {"rotary_gpt_oss", 64, 1.5e5,
       "yarn:factor=32,trained_rows=4096,truncate=false,attention_factor=1"},
      // The factor is a power of two, so that products are exact. An implementation that ignores
      // attention factors fails this table.
      {"rotary_attention_factor_2", 128, 1e6,
       "yarn:factor=4,trained_rows=32768,attention_factor=2"},
      {"rotary_gemma_3", 256, 1e6, "linear:factor=8"},
      {"rotary_code_llama", 128, 1e6, "base"},
      {"rotary_dynamic", 128, 1e4, "ntk:factor=2"},
      {"rotary_modernbert", 64, 1.6e5, "base"},
      {"rotary_smollm_3", 128, 5e6, "base"},
      {"rotary_gpt_neox", 24, 1e4, "base"},
      {"rotary_widest_base", 64, 1e8, "base"},
  };
  for (const auto& [name, d_model, base, rule] : rotary)
    all.push_back({name,
                   {.d_model = d_model,
                    .base = base,
                    .layout = Layout::halves_cos_first,
                    .frequencies = parse_frequency_rule(rule)}});
  return all;
}

std::string file_of(const ConformanceTable& table, DataType type) {
  return fmt::format("{}.{}", table.name, to_string(type));
}

/// The elements of a table in the byte order of files.
std::string bytes_of(const ConformanceTable& table, DataType type) {
  return with_type(type, [&]<class T>(T) {
    BasicMatrix<T> matrix(std::ssize(conformance_positions), table.spec.d_model);
    if (table.factor() == 1)
      backend("rotation").plan(table.spec)->encode(std::span(conformance_positions), matrix.view());
    else
      Rotary(rotary_spec(table.spec))
          .cache(conformance_positions, RotaryLayout::halves, matrix.view());
    const std::span elements(matrix.data(),
                             static_cast<std::size_t>(matrix.rows() * matrix.columns()));
    to_little_endian(elements);
    return std::string(reinterpret_cast<const char*>(elements.data()), elements.size_bytes());
  });
}

}  // namespace

void add_conformance(CLI::App& app, Options& options, const std::string& description) {
  const std::vector<CLI::Option*> others = app.get_options();
  CLI::Option* const option =
      add_text(app, "--conformance", "DIR", options.conformance, description);
  for (CLI::Option* const each : others) {
    if (each != app.get_help_ptr()) option->excludes(each);
  }
}

void write_conformance_set(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Json manifest = {{"format", "posenc conformance"},
                   {"version", 2},
                   {"positions", conformance_positions},
                   {"tables", Json::array()}};
  for (const ConformanceTable& table : conformance_tables()) {
    Json entry = {{"name", table.name},
                  {"presets", table.presets},
                  {"d_model", table.spec.d_model},
                  {"base", table.spec.base},
                  {"layout", to_string(table.spec.layout)},
                  {"spacing", to_string(table.spec.spacing)},
                  {"frequencies", to_string(table.spec.frequencies)}};
    if (table.factor() != 1) entry["attention_factor"] = table.factor();
    for (const DataType type : all_data_types)
      write_all((folder / file_of(table, type)).string(), bytes_of(table, type));
    manifest["tables"].push_back(std::move(entry));
  }
  write_all((folder / "manifest.json").string(), manifest.dump(1) + "\n");
}

int check_conformance_set(const Options& options) {
  Json document = new_document();
  document["files"] = Json::array();
  std::int64_t missing = 0;
  bool are_good = true;
  for (const ConformanceTable& table : conformance_tables()) {
    for (const DataType type : all_data_types) {
      const std::string name = file_of(table, type);
      const std::filesystem::path file = std::filesystem::path(options.conformance) / name;
      if (!std::filesystem::exists(file)) {
        ++missing;
        continue;
      }
      const check::TableInMemory answer =
          check::read_table(file, {.type = type, .columns = table.spec.d_model});
      const check::TableReport report =
          check::table(answer.view(), {.spec = table.spec,
                                       .arrangements = {check::arrangement_of(table.spec.layout)},
                                       .positions = conformance_positions,
                                       .max_error = options.max_error});
      are_good = are_good && report.is_good;
      document["files"].push_back({{"file", name},
                                   {"good", report.is_good},
                                   {"verdict", report.is_good ? "good" : "wrong"},
                                   {"error", to_json(report.errors.error)},
                                   {"correctly_rounded", report.errors.error.correctly_rounded},
                                   {"cause", check::cause_text(report)}});
    }
  }
  const Json& files = document["files"];
  if (files.empty())
    throw_invalid(
        "--conformance is '{}'; allowed: a folder with files of posenc generate --conformance",
        options.conformance);
  document["good"] = are_good;
  document["missing"] = missing;
  std::string page =
      table(files, {text("file", "/file"), text("verdict", "/verdict"),
                    number("max |error|", "/error/max_abs", error_text),
                    number("max ulp", "/error/max_ulp", ulp_text),
                    number("correctly rounded", "/correctly_rounded", percent_text)});
  for (const Json& each : files)
    if (!each.at("good"))
      page += wrapped("\n" + each.at("file").get<std::string>() + ": " +
                      each.at("cause").get<std::string>() + "\n");
  if (missing > 0) page += fmt::format("\n{} files of the set are not in the folder\n", missing);
  write_document(options, document, page);
  return are_good ? good : check_failed;
}

}  // namespace posenc::cli
