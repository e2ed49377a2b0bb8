// posenc check: how wrong a table from elsewhere is, what it is, and why it is wrong.
#include "posenc/suite/checking/check.h"

#include "cli/commands.h"
#include "cli/config.h"
#include "cli/error_tables.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/positions_file.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/suite/checking/arrangement.h"
#include "posenc/suite/checking/table_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace posenc::cli {

using namespace suite;
namespace {

struct CheckCommandOptions {
  CommonOptions common;
  ConfigOptions config;
  std::string file;
  std::string tensor;
  std::string positions;  ///< a file; empty: a run
  bool is_twice = false, is_repeated = false;
  std::optional<double> max_error;
};

/// What the table should be, of what the command line says: parts that it does not name are found.
CheckOptions expected_of(const CommonOptions& options) {
  CheckOptions expected;
  const bool has_preset = !options.presets.empty();
  const Preset* const from = has_preset ? &preset(options.presets.front()) : nullptr;
  if (has_preset || options.base || options.spacing || options.frequencies) {
    EncodingSpec spec = has_preset ? from->spec : EncodingSpec{};
    spec.d_model = options.d_model.value_or(0);
    spec.base = options.base.value_or(spec.base);
    spec.spacing = options.spacing.value_or(spec.spacing);
    spec.frequencies = options.frequencies.value_or(spec.frequencies);
    expected.spec = spec;
  }
  if (options.layout || has_preset)
    expected.arrangements = {arrangement_of(options.layout ? *options.layout : from->spec.layout)};
  if (options.first || has_preset)
    expected.first = options.first.value_or(has_preset ? from->rows.first : 0);
  return expected;
}

/// What the cache of a model should be, in any arrangement.
CheckOptions expected_of(const CheckCommandOptions& options) {
  if (!options.config.is_given()) return expected_of(options.common);
  const RotarySpec rotary = rotary_spec_of(options.config);
  CheckOptions expected;
  expected.spec = spec_of_equal_positions(rotary.angles);
  expected.factor = rotary.attention_factor;
  expected.first = options.common.first.value_or(0);
  return expected;
}

/// "cos(pos w_12)"
std::string function_text(const CheckReport& report, std::int64_t column) {
  const auto [k, is_cosine] = content_of(report.identity.arrangement, report.columns, column);
  return fmt::format("{}(pos w_{})", is_cosine ? "cos" : "sin", k);
}

/// The figures beside those that a correctly rounded table has.
std::string figures_text(const CheckReport& report) {
  const AccuracyReport& errors = report.errors;
  const double half_ulp = half_ulp_of_one(report.type);
  Table table({{"", Align::left}, {"this table"}, {"correctly rounded"}});
  table.add_row({"max |error|", error_text(errors.error.max_abs), error_text(half_ulp)});
  table.add_row({"max ulp", ulp_text(errors.error.max_ulp), ulp_text(0.5)});
  table.add_row({"RMS", error_text(errors.error.rms), ""});
  table.add_row({"correctly rounded", percent_text(errors.correctly_rounded), percent_text(1)});
  table.add_row({"entries off", count_text(report.entries_off), "0"});
  table.add_row({"NaN or infinite", count_text(report.entries_not_finite), "0"});
  return table.text();
}

std::string table_text(const CheckReport& report) {
  std::string text = wrapped(to_string(report) + "\n");
  if (!report.is_identified) return text;
  const auto function = [&](std::int64_t column) { return function_text(report, column); };
  text += fmt::format("\n{}\n{}\nBy position\n\n{}\nWorst channels\n\n{}", figures_text(report),
                      worst_entry_text(report.errors), position_table(report.errors),
                      channel_table(report.errors, function));
  return text;
}

int check_table(const CheckCommandOptions& options) {
  if (!is_standard_output(options.common.output))
    check_writable(options.common.output, Folders::must_exist);
  CheckOptions expected = expected_of(options);
  if (options.is_twice)
    expected.arrangements = {Arrangement::cosines_twice, Arrangement::sines_twice};
  if (options.is_repeated)
    expected.arrangements = {Arrangement::cosines_repeated, Arrangement::sines_repeated};
  if (!options.positions.empty()) {
    const FilePositions given = read_positions(options.positions);
    if (given.axes > 1)
      throw InvalidArgument(fmt::format("--positions has {} axes; allowed: one", given.axes));
    expected.positions = given.positions;
  }
  expected.max_error = options.max_error;
  expected.threads = options.common.threads.value_or(cpu().logical_cores);
  const TableInMemory table = read_table(
      options.file,
      {.tensor = options.tensor, .type = options.common.type, .columns = options.common.d_model});
  Progress progress;
  expected.progress = [&](double share) { progress(share, "checking"); };
  const CheckReport report = check(table.view(), expected);
  write_page(options.common.output,
             options.common.format == "json" ? check_json(report) : table_text(report));
  return report.is_good ? good : check_failed;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CheckCommandOptions>();
  CLI::App& command = add_subcommand(
      app, "check",
      "Say how wrong a table in a file is, what it is, and why; exit 1 if it is wrong", action,
      [options] { return check_table(*options); });
  add_file_argument(command, options->file, "TABLE",
                    "the table: .npy, .safetensors, or raw little-endian elements with --d-model");
  add_preset_option(command, options->common, Times::once);
  add_spec_options(command, options->common);
  add_config_options(command, options->config);
  exclude(command, "--config", {"--preset", "--base", "--layout", "--spacing", "--frequencies"});
  add_flag(command, options->is_twice, "--twice",
           "cosines or sines, and the same again: cos_cached of Transformers");
  add_flag(command, options->is_repeated, "--repeated",
           "cosines or sines, each in two columns side by side");
  exclude(command, "--twice", {"--repeated", "--layout"});
  exclude(command, "--repeated", {"--layout"});
  add_file_option(command, options->positions, "--positions",
                  "positions of the rows: a .npy file of int32 or int64, of shape (rows)");
  exclude(command, "--positions", {"--first"});
  add_text_option(command, options->tensor, "--tensor", "NAME",
                  "the tensor of a .safetensors file (default: the only table in it)");
  add_type_option(command, options->common);
  add_real_option(command, options->max_error, "--max-error", Sign::positive,
                  "an entry is good if |error| is up to X (default: an ulp of the type at 1, and "
                  "what phases in double cost)");
  add_threads_option(command, options->common, "all cores");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common);
  describe(command,
           {{"posenc check table.npy", "find out what it is, and judge it"},
            {"posenc check cache.safetensors --preset llama_3_1 --twice --tensor cos_cached",
             "judge it as a model's table, and as nothing else"},
            {"posenc check cos_cached.npy --config config.json",
             "judge it as the cache of a model's rotary embedding"},
            {"posenc check table.raw --d-model 512 --dtype bfloat16",
             "raw elements, whose shape no header says"},
            {"posenc check table.npy --max-error 1e-3 --format json --output check.json",
             "another limit, and a report for programs"}});
}

}  // namespace posenc::cli
