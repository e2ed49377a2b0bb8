// What a command line says, and how a subcommand is declared. The parser's headers are included by
// few files: they take many seconds to compile.
#pragma once

#include "cli/spelling.h"

#include "posenc/accuracy.h"
#include "posenc/axes_presets.h"
#include "posenc/data_type.h"
#include "posenc/isa.h"
#include "posenc/layers/rotary_config.h"
#include "posenc/parity.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace posenc::cli {

/// What a command line says. Text is empty, and an optional has no value, if it is not given.
struct Options {
  int (*run)(const Options& options) = nullptr;  ///< the chosen subcommand; returns an exit code

  // A table, and by what and how it is computed.
  Names presets;
  std::optional<std::int64_t> rows, d_model, first;
  std::optional<double> base;
  std::optional<Layout> layout;
  std::optional<Spacing> spacing;
  std::optional<FrequencyRule> frequencies;
  std::optional<DataType> type;
  Names backends;
  std::optional<Isa> isa;
  std::optional<double> max_error, max_ulp;
  std::optional<int> threads;

  // A table from elsewhere: a model's configuration, a grid, positions, another system.
  std::string config, layers;
  std::optional<int> longest;  ///< rows of the longest sequence
  std::string axes;
  std::optional<GridSizes> grid;
  std::string positions;
  std::optional<System> like;
  std::string rotary, repeat;
  std::string table, tensor;  ///< a file, and the tensor in it
  bool is_twice = false, is_repeated = false;

  // Documents of measurements.
  std::string before, after, filter;
  std::optional<double> tolerance;
  bool allows_missing = false;
  std::string document;  ///< empty: measure now
  std::optional<int> processes;
  std::string save;
  bool force = false, times_on_request = false;

  // Output.
  bool lists_presets = false;
  std::optional<int> digits;
  std::string format;  ///< empty if neither --format nor the suffix of --output names it
  std::string output;

  DataType data_type() const { return type.value_or(DataType::float32); }
  /// That --max-error or --max-ulp asks for.
  Accuracy accuracy() const;
  bool is_json() const { return format == "json"; }
};

/// A subcommand, as it is declared.
struct Subcommand {
  struct Example {
    std::string line;  ///< as typed
    std::string what;
  };

  std::string name, description;
  int (*run)(const Options& options);
  std::string options;  ///< names, with blanks between them, of those that options.cpp describes
  std::vector<Example> examples;
  /// Of options that are described otherwise than there.
  std::map<std::string, std::string> descriptions = {};
  /// Options, and those that are refused beside them.
  std::vector<std::pair<std::string, std::string>> excludes = {};
  Names formats = {"table", "json"};
  std::string default_format = "table";
};

/// Those that override parts of a preset.
inline const std::string spec_options =
    " --d-model --first --base --layout --spacing --frequencies ";
/// Those of a command that measures.
inline const std::string measuring_options =
    " --preset... --backend... --isa --dtype --threads --processes ";

/// The values of --repeat, in the order of Repeat.
inline const Names repeats = {"once", "halves", "interleaved"};

/// Adds it to the parser. `options` is filled, and Options::run is set if it is chosen.
void add(CLI::App& app, Options& options, const Subcommand& subcommand);

/// The table that a command is asked for.
struct TableShape {
  EncodingSpec spec;
  RowRange rows;
};

/// The preset (by default the tutorial's) with what the other options override; validated.
TableShape shape_of(const Options& options);

/// The one backend that --backend and --isa name; if they name none, the library's selection.
const Backend& backend_of(const Options& options, const TableShape& shape);

/// Every backend that --backend names, each once; if it names none, every backend that runs here,
/// at --isa if given.
std::vector<const Backend*> backends_of(const Options& options);

/// What --config says. Throws InvalidArgument, or std::system_error if it cannot be read.
RotaryReading reading_of(const Options& options);

}  // namespace posenc::cli
