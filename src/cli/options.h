// The options of a command line, and the functions that add them to the parser of a command.
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
#include <charconv>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

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

/// Stores a value that the parser has read: appends it to a list, and replaces any other field.
template <class Field, class T>
void keep(Field& field, const T& value) {
  if constexpr (requires { field.push_back(value); })
    field.push_back(value);
  else
    field = value;
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
  std::optional<std::int64_t> rows, d_model, length;
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
  std::string config, types_file, layers, axes, rotary, positions, table, tensor, rotated,
      conformance;
  std::optional<model::GridSizes> grid;
  std::optional<double> step;          ///< difference between the positions of rows
  std::optional<std::int64_t> offset;  ///< channels of a head before its pairs
  bool is_twice = false, is_repeated = false;

  // Documents of measurements.
  Names documents;             ///< the arguments of compare
  std::string document, save;  ///< if document is empty, the command measures now
  std::string cpu;             ///< name of the CPU that pick answers for
  bool runs = false;           ///< compare runs two programs
  Names questions;             ///< the questions that a benchmark program answers
  std::optional<double> tolerance;
  std::optional<int> processes, rounds, worst;

  // Output.
  bool is_forced = false;  ///< write a file that may not fit on its disk
  bool lists_presets = false, lists_cpus = false, lists_models = false;
  std::string format, output;  ///< format is empty if neither --format nor a suffix names it

  std::optional<std::int64_t> first() const {
    return firsts.empty() ? std::nullopt : std::optional(firsts.front());
  }
  DataType data_type() const { return types.empty() ? DataType::float32 : types.front(); }
  int thread_count(int by_default) const { return threads.empty() ? by_default : threads.front(); }
  /// The accuracy that --max-error or --max-ulp asks for; the default accuracy if neither is given.
  Accuracy accuracy() const;
};

/// The text with line breaks for the help. Newer versions of CLI11 break lines at 65 columns; older
/// versions do not break them.
std::string help_lines(const std::string& text);

/// How many values an option takes. A list is separated by commas, or the option is repeated.
enum class Values { one, list };

/// Stores a value. If the value is refused, returns a text that lists the allowed values.
using Take = std::function<std::string(const std::string& text)>;

/// Adds an option, or an argument if the name has no dashes. `value` is the name of the value in
/// the help. The parser's own conversions are not used: they round twice, read octal numbers, and
/// differ between versions.
CLI::Option* add_option(CLI::App& app, const std::string& name, const std::string& value,
                        const std::string& description, const Take& take,
                        Values values = Values::one);

CLI::Option* add_flag(CLI::App& app, const std::string& name, bool& field,
                      const std::string& description);

/// A text of at least one character. `field` is a string, or a list of strings.
template <class Field>
CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& value,
                      Field& field, const std::string& description, Values values = Values::one) {
  const auto take = [&field](const std::string& text) {
    keep(field, text);
    return text.empty() ? "at least one character" : "";
  };
  return add_option(app, name, value, description, take, values);
}

/// An integer. Numbers that do not print as they were typed, such as 010, are refused.
template <class Field, class T = typename Field::value_type>
CLI::Option* add_integer(CLI::App& app, const std::string& name, Field& field,
                         const std::string& description, T least = std::numeric_limits<T>::min(),
                         T most = std::numeric_limits<T>::max(), Values values = Values::one) {
  const auto take = [&field, least, most](const std::string& text) {
    T value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    keep(field, value);
    const bool is_read = std::to_string(value) == text && value >= least && value <= most;
    return is_read ? std::string() : format_text("an integer, {} to {}", least, most);
  };
  return add_option(app, name, "N", description, take, values);
}

/// A finite number that is greater than `least`, or equal to it if `may_be_least`.
CLI::Option* add_real(CLI::App& app, const std::string& name, std::optional<double>& field,
                      const std::string& description, double least, bool may_be_least = false);

/// One of several values, which are strings or have names. The names end the description.
template <class All, class Field>
CLI::Option* add_choice(CLI::App& app, const std::string& name, const std::string& what,
                        const All& all, const std::string& by_default, Field& field,
                        Values values = Values::one) {
  const auto name_of = [](const auto& each) {
    if constexpr (std::is_enum_v<std::decay_t<decltype(each)>>)
      return std::string(to_string(each));
    else
      return std::string(each);
  };
  const std::string names = join(names_of(all, name_of), ", ");
  const auto take = [=, &field,
                     known = std::vector(std::begin(all), std::end(all))](const std::string& text) {
    const auto found = std::ranges::find(known, text, name_of);
    if (found == known.end()) return names;
    keep(field, *found);
    return std::string();
  };
  const std::string description = (what.empty() ? "" : what + ": ") + names +
                                  (by_default.empty() ? "" : " (default: " + by_default + ")");
  return add_option(app, name, "NAME", description, take, values);
}

/// The option excludes each of the others.
void exclude(CLI::App& app, const std::string& option, const Names& others);

/// --preset.
void add_preset(CLI::App& app, Options& options, Values values);
/// --shape, --rows and --d-model.
void add_size(CLI::App& app, Options& options, Values values);
void add_d_model(CLI::App& app, Options& options, const std::string& by_default = "the preset's");
/// --first.
void add_first(CLI::App& app, Options& options, Values values,
               const std::string& by_default = "the preset's");
/// --base, --layout, --spacing and --frequencies.
void add_convention(CLI::App& app, Options& options,
                    const std::string& by_default = "the preset's");
/// --preset, and the options that override parts of its convention.
inline const Names convention_options = {"--preset", "--base", "--layout", "--spacing",
                                         "--frequencies"};
/// --dtype.
void add_type(CLI::App& app, Options& options, Values values,
              const std::string& by_default = "float32");
/// --threads.
void add_threads(CLI::App& app, Options& options, Values values,
                 const std::string& by_default = "1");
/// --backend, as a list, and --isa.
void add_backends(CLI::App& app, Options& options);
/// The options that name tables: any sizes, conventions, types and numbers of threads.
void add_tables(CLI::App& app, Options& options);
/// The options of a command that measures, or shows some rows of a document.
void add_measuring(CLI::App& app, Options& options);
/// --max-error and --max-ulp.
void add_accuracy(CLI::App& app, Options& options);
/// --config and --layers, --axes and --grid.
void add_model(CLI::App& app, Options& options);
/// --format and --output. `formats` are the formats that the command can write.
void add_output(CLI::App& app, Options& options, const Names& formats = {"table", "json"},
                const std::string& by_default = "table");

/// The tables that the options ask for: every preset at every shape, first position, type and
/// number of threads, with the parts that the other options override. If the options name no preset
/// and no size, the tables `by_default` take the place of presets; without them, the preset
/// tutorial does. Every table is validated and appears once.
std::vector<suite::MeasuredTable> tables_of(
    const Options& options, const std::vector<suite::MeasuredTable>& by_default = {});

/// True if the options ask for this table of a document.
bool names_table(const Options& options, const suite::MeasuredTable& table);

/// Every backend that --backend names, each once. Without --backend, every backend that runs here,
/// limited to --isa if given.
std::vector<const Backend*> backends_of(const Options& options);
/// The same for tables of this type. Throws InvalidArgument if --backend names a backend that
/// cannot write it; other such backends are left out.
std::vector<const Backend*> backends_of(const Options& options, DataType type);

/// The positions of the cells of --grid on each axis of a model that --config describes, from
/// --first on. Throws InvalidArgument unless the model has two or three axes.
std::vector<std::int64_t> positions_on_grid(const Options& options, const model::AxesSpec& axes);

/// The rotary embedding that --config describes. Throws InvalidArgument, or std::system_error if
/// the file cannot be read.
model::RotaryReading reading_of(const Options& options, std::optional<std::int64_t> rows = {});

}  // namespace posenc::cli
