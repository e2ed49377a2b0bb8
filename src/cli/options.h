// The options of a command line, and how a subcommand is declared.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/data_type.h"
#include "posenc/isa.h"
#include "posenc/model/axes_presets.h"
#include "posenc/model/rotary_config.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/spec.h"
#include "posenc/suite/measurement.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc::cli {

using Names = std::vector<std::string>;

template <class Range, class NameOf>
Names names_of(const Range& all, NameOf name_of) {
  Names names;
  for (const auto& each : all) names.emplace_back(std::invoke(name_of, each));
  return names;
}

/// Appends the value unless the list already contains it.
template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::ranges::count(list, value) == 0) list.push_back(value);
}

/// Rows and channels of a table.
struct TableSize {
  std::int64_t rows = 0;
  std::int64_t d_model = 0;
};

/// The values of a command line. If a value is not given, its text is empty, or its optional has no
/// value.
struct Options {
  int (*run)(const Options& options) = nullptr;  ///< the chosen subcommand; returns an exit code

  // A table, and the backend and types that compute it.
  Names presets;
  std::vector<TableSize> shapes;
  std::optional<std::int64_t> rows, d_model;
  std::vector<std::int64_t> firsts;
  std::optional<double> base;
  std::optional<Layout> layout;
  std::optional<Spacing> spacing;
  std::optional<FrequencyRule> frequencies;
  std::vector<DataType> types;
  Names backends;
  std::optional<Isa> isa;
  std::optional<double> max_error, max_ulp;
  std::vector<int> threads;

  // A table from elsewhere: a model's configuration, a grid, a file.
  std::string config, layers, axes, rotary, positions, table, tensor, rotated, conformance;
  std::optional<model::GridSizes> grid;
  bool is_twice = false, is_repeated = false;
  bool is_forced = false;  ///< write a file that may not fit on its disk

  // Documents of measurements.
  Names documents;             ///< the arguments of compare
  std::string document, save;  ///< if document is empty, the command measures now
  std::string cpu;             ///< name of the CPU that pick answers for
  bool runs = false;           ///< compare runs two programs
  Names questions;             ///< the questions that a benchmark program answers
  std::optional<double> tolerance;
  std::optional<int> processes, rounds, worst;

  // Output.
  bool lists_presets = false, lists_cpus = false;
  std::string format, output;  ///< format is empty if neither --format nor a suffix names it

  std::optional<std::int64_t> first() const {
    return firsts.empty() ? std::nullopt : std::optional(firsts.front());
  }
  DataType data_type() const { return types.empty() ? DataType::float32 : types.front(); }
  int thread_count(int by_default) const { return threads.empty() ? by_default : threads.front(); }
  /// The accuracy that --max-error or --max-ulp asks for; the default accuracy if neither is given.
  Accuracy accuracy() const;
};

/// The declaration of a subcommand.
struct Subcommand {
  struct Example {
    std::string line;  ///< the command line as typed
    std::string what;
  };

  std::string name, description;
  int (*run)(const Options& options);
  std::string options;  ///< names of its options in options.cpp, separated by blanks
  std::vector<Example> examples;
  /// Descriptions that replace the text in options.cpp.
  std::map<std::string, std::string> descriptions = {};
  /// Pairs of an option, and the options that it excludes, separated by blanks.
  std::vector<std::pair<std::string, std::string>> excludes = {};
  /// Pairs of an option, and the option that it needs.
  std::vector<std::pair<std::string, std::string>> needs = {};
  Names formats = {"table", "json"};
  std::string default_format = "table";
};

/// The second accuracy that pick shows by default.
inline constexpr double larger_error = 1e-6;

/// Options that override parts of a preset.
inline const std::string spec_options = " --d-model --base --layout --spacing --frequencies ";
/// Options that name tables: any shapes, conventions, types and numbers of threads.
inline const std::string tables_options =
    " --preset... --shape... --rows --first..." + spec_options + "--dtype... --threads... ";
/// Options of a command that measures, or shows some rows of a document.
inline const std::string measuring_options = tables_options + "--backend... --isa --processes ";

/// An option or an argument, and the function that stores its value. The parser's own conversions
/// are not used: they round twice, read octal numbers, and differ between versions.
struct Rule {
  std::string key;    ///< "--rows", "TABLE"; "--preset..." takes a list, "DOCUMENT?" is optional
  std::string value;  ///< name of the value in the help; empty for a flag
  std::string description;
  /// Stores the value. If the value is refused, returns a text that lists the allowed values.
  std::function<std::string(Options& options, const std::string& text)> take;
};

/// All options and arguments that a subcommand can choose from.
std::vector<Rule> rules(const Subcommand& subcommand);

/// The words of a text that blanks separate.
Names words_of(const std::string& text);

/// --shape excludes --rows and --d-model, its two parts.
inline const std::pair<std::string, std::string> shape_or_its_parts = {"--shape",
                                                                       "--rows --d-model"};

/// The table that the options ask for: the preset (default: tutorial), with the parts that the
/// other options override. The table is validated.
Preset shape_of(const Options& options);

/// The tables that the options ask for: every preset at every shape, first position, type and
/// number of threads, with the parts that the other options override. If the options name no preset
/// and no size, the tables `by_default` take the place of presets. Every table is validated and
/// appears once.
std::vector<suite::MeasuredTable> tables_of(const Options& options,
                                            const std::vector<suite::MeasuredTable>& by_default);

/// True if the options ask for this table of a document.
bool names_table(const Options& options, const suite::MeasuredTable& table);

/// The backend that --backend names; without --backend, the backend that the library selects.
const Backend& backend_of(const Options& options, const Preset& shape);

/// Every backend that --backend names, each once. Without --backend, every backend that runs here,
/// limited to --isa if given.
std::vector<const Backend*> backends_of(const Options& options);

/// The rotary embedding that --config describes. Throws InvalidArgument, or std::system_error if
/// the file cannot be read.
model::RotaryReading reading_of(const Options& options, std::optional<std::int64_t> rows = {});

}  // namespace posenc::cli
