// What a command line says, and how a subcommand is declared.
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

/// Appends a value that the list does not have.
template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::ranges::count(list, value) == 0) list.push_back(value);
}

/// Rows and channels of a table.
struct TableSize {
  std::int64_t rows = 0;
  std::int64_t d_model = 0;
};

/// What a command line says. Text is empty, and an optional has no value, if it is not given.
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
  std::optional<GridSizes> grid;
  bool is_twice = false, is_repeated = false;
  bool is_forced = false;  ///< write a file that may not fit on its disk

  // Documents of measurements.
  Names documents;             ///< the arguments of compare
  std::string document, save;  ///< no document: measure now
  std::string cpu;             ///< name of the CPU that pick answers for
  bool runs = false;           ///< compare runs programs
  Names questions;             ///< what a benchmark binary is asked
  std::optional<double> tolerance;
  std::optional<int> processes, rounds, worst;

  // Output.
  bool lists_presets = false, lists_cpus = false;
  std::string format, output;  ///< no format: neither --format nor a suffix names it

  std::optional<std::int64_t> first() const {
    return firsts.empty() ? std::nullopt : std::optional(firsts.front());
  }
  DataType data_type() const { return types.empty() ? DataType::float32 : types.front(); }
  int thread_count(int by_default) const { return threads.empty() ? by_default : threads.front(); }
  /// The accuracy that --max-error or --max-ulp asks for; else the default.
  Accuracy accuracy() const;
};

/// A subcommand, as it is declared.
struct Subcommand {
  struct Example {
    std::string line;  ///< as typed
    std::string what;
  };

  std::string name, description;
  int (*run)(const Options& options);
  std::string options;  ///< names of its options in options.cpp, separated by blanks
  std::vector<Example> examples;
  /// Descriptions that replace the text in options.cpp.
  std::map<std::string, std::string> descriptions = {};
  /// Pairs of options that exclude each other.
  std::vector<std::pair<std::string, std::string>> excludes = {};
  std::vector<std::pair<std::string, std::string>> needs =
      {};  ///< an option, and the option it needs
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

/// An option or an argument, and what takes its value. The parser's own conversions are not used:
/// they round twice, read octal numbers, and differ by version.
struct Rule {
  std::string key;    ///< "--rows", "TABLE"; "--preset..." may be repeated, "DOCUMENT?" left out
  std::string value;  ///< name of the value in the help; empty for a flag
  std::string description;
  /// Stores the value. Returns what is allowed if the value is refused.
  std::function<std::string(Options& options, const std::string& text)> take;
};

/// All that a subcommand may have.
std::vector<Rule> rules(const Subcommand& subcommand);

/// The words between blanks.
Names words_of(const std::string& text);

/// --shape excludes its parts.
inline const std::pair<std::string, std::string> shape_or_its_parts = {"--shape",
                                                                       "--rows --d-model"};

/// The table that a command is asked for: the preset (by default the tutorial's) with what the
/// other options override; validated.
Preset shape_of(const Options& options);

/// The tables that a command is asked for: each preset at each shape, in each type, by each number
/// of threads, with what the other options override. If the options name neither a preset nor a
/// shape, these are the given ones. Each is validated, and appears once.
std::vector<suite::MeasuredTable> tables_of(const Options& options,
                                            const std::vector<suite::MeasuredTable>& by_default);

/// True if the options ask for this table of a document.
bool names_table(const Options& options, const suite::MeasuredTable& table);

/// The one backend that --backend names; if it names none, the library's selection.
const Backend& backend_of(const Options& options, const Preset& shape);

/// Every backend that --backend names, each once; if it names none, every backend that runs here,
/// at --isa if given.
std::vector<const Backend*> backends_of(const Options& options);

/// What --config says. Throws InvalidArgument, or std::system_error if it cannot be read.
RotaryReading reading_of(const Options& options, std::optional<std::int64_t> rows = {});

}  // namespace posenc::cli
