// What a command line says, and how a subcommand declares which options it takes.
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
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

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

struct Example {
  std::string line;  ///< as typed
  std::string what;
};

/// How often an option may be given.
enum class Times { once, often };

/// Declares a subcommand. The parser's own conversions are not used: they round twice, read octal
/// numbers, and differ by version. Its headers are not included here because every file that
/// includes them takes many seconds longer to compile.
class Subcommand {
 public:
  using Take = std::function<void(const std::string& text)>;

  Subcommand(CLI::App& app, Options& options, const std::string& name,
             const std::string& description, int (*run)(const Options&));

  /// `use` is called with the value, and throws InvalidArgument if it is not allowed.
  CLI::Option* take(const std::string& option, const std::string& value_name,
                    const std::string& description, Take use, Times times = Times::once);
  /// Any text but an empty one. A name without dashes is that of an argument.
  CLI::Option* text(const std::string& option, const std::string& value_name, std::string& value,
                    const std::string& description);
  void required_file(const std::string& name, std::string& value, const std::string& description);
  /// One of the names; the description lists them.
  CLI::Option* choice(const std::string& option, const std::string& description, const Names& known,
                      const std::string& by_default, Take use, Times times = Times::once);
  template <class Enum, std::size_t count>
  void choice(const std::string& option, const std::string& description,
              const Enum (&all)[count], const std::string& by_default, std::optional<Enum>& value) {
    choice(option, description, names_of(all, [](Enum each) { return to_string(each); }),
           by_default, [&all, &value](const std::string& name) {
             for (const Enum each : all)
               if (to_string(each) == name) value = each;
           });
  }
  void integer(const std::string& option, std::optional<int>& value, int least, int most,
               const std::string& description);
  /// Any integer of 64 bits: the library says which are allowed.
  void integer(const std::string& option, std::optional<std::int64_t>& value,
               const std::string& description);
  /// A finite number for which `is_allowed` holds.
  void real(const std::string& option, std::optional<double>& value, const std::string& description,
            const std::string& allowed, bool (*is_allowed)(double));
  void positive(const std::string& option, std::optional<double>& value,
                const std::string& description);
  void flag(const std::string& option, bool& value, const std::string& description);
  void hidden_flag(const std::string& option, bool& value);
  /// Refuses a command line that has `option` and not the other, which must have been added.
  void need(const std::string& option, const std::string& other);
  /// Refuses a command line that has `option` and one of `others`, which must have been added.
  void exclude(const std::string& option, const Names& others);

  // Options that several subcommands share.
  void preset(Times times);
  void spec();  ///< those that override parts of a preset
  void shape();  ///< --preset (once), --rows, and spec()
  void backend(Times times);  ///< and --isa
  void type();
  void threads(const std::string& by_default);
  void config();  ///< and --layers and --longest
  void grid();    ///< of --axes
  void processes();
  /// --format and --output, whose suffix names the format unless --format does.
  void output(const Names& formats, const std::string& by_default);
  /// Last: the examples, and what the help of every command has.
  void describe(const std::vector<Example>& examples);

 private:
  CLI::App& app_;
  Options& options_;
};

/// The table that a command is asked for.
struct TableShape {
  EncodingSpec spec;
  RowRange rows;
};

/// The preset (by default the tutorial's) with what the other options override; validated.
TableShape shape_of(const Options& options);

/// The one backend that --backend and --isa name; if they name none, the library's selection for
/// the shape.
const Backend& backend_of(const Options& options, const TableShape& shape);

/// Every backend that --backend names, each once; if it names none, every backend that runs here,
/// at --isa if given.
std::vector<const Backend*> backends_of(const Options& options);

/// What --config says. Throws InvalidArgument, or std::system_error if it cannot be read.
RotaryReading reading_of(const Options& options);

}  // namespace posenc::cli
