// The options that several subcommands share, declared and parsed in one place.
#pragma once

#include "cli/subcommand.h"

#include "posenc/data_type.h"
#include "posenc/isa.h"
#include "posenc/model/axes_presets.h"
#include "posenc/model/rotary_cache_view.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "posenc/suite/parity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

using namespace suite;

struct CommonOptions {
  std::vector<std::string> presets;
  std::optional<std::int64_t> rows;
  std::optional<std::int64_t> d_model;
  std::optional<std::int64_t> first;
  std::optional<double> base;
  std::optional<Layout> layout;
  std::optional<Spacing> spacing;
  std::optional<FrequencyRule> frequencies;
  std::vector<std::string> backends;
  std::optional<Isa> isa;
  DataType type = DataType::float32;
  std::optional<int> threads;
  std::string format;  ///< empty if neither --format nor the suffix of --output names it
  std::vector<std::string> formats;  ///< all that the command writes
  std::string output;                ///< empty if not given
};

/// What is written of a rotary embedding.
enum class RotaryTables { halves, interleaved, cosines, sines, apart };

std::string_view to_string(RotaryTables tables) noexcept;

struct RotaryOptions {
  std::optional<RotaryTables> tables;  ///< none: no rotary embedding
  std::optional<Repeat> repeat;
};

/// --rotary and --repeat.
void add_rotary_options(CLI::App& command, RotaryOptions& options);

/// A convention of several axes, and the grid whose cells are the rows.
struct AxesOptions {
  std::string preset;  ///< empty: none
  std::optional<GridSizes> grid;
};

/// --axes and --grid.
void add_axes_options(CLI::App& command, AxesOptions& options);

/// How often an option may be given.
enum class Times { once, often };

void add_preset_option(CLI::App& command, CommonOptions& options, Times times);
/// --preset (once) and the options that override parts of it.
void add_shape_options(CLI::App& command, CommonOptions& options);
/// Those that override parts of it, without --rows.
void add_spec_options(CLI::App& command, CommonOptions& options);
/// --backend and --isa.
void add_backend_options(CLI::App& command, CommonOptions& options, Times times);
/// --dtype.
void add_type_option(CLI::App& command, CommonOptions& options);
/// --like.
void add_like_option(CLI::App& command, std::optional<System>& system);
void add_threads_option(CLI::App& command, CommonOptions& options, const std::string& by_default);
void add_format_option(CLI::App& command, CommonOptions& options,
                       const std::vector<std::string>& allowed, const std::string& by_default);
/// --output, whose suffix names the format unless --format does; after add_format_option().
void add_output_option(CLI::App& command, CommonOptions& options);

/// The name of a file, which is not empty.
void add_file_option(CLI::App& command, std::string& value, const std::string& option,
                     const std::string& description);

/// A decimal integer in [least, most].
void add_integer_option(CLI::App& command, std::optional<int>& value, const std::string& option,
                        int least, int most, const std::string& description);
enum class Sign { positive, not_negative };

/// A finite decimal number of that sign.
void add_real_option(CLI::App& command, std::optional<double>& value, const std::string& option,
                     Sign sign, const std::string& description);

/// The table that a command is asked for.
struct TableShape {
  EncodingSpec spec;
  RowRange rows;
};

/// The preset (by default the tutorial's) with what the other options override; validated.
TableShape shape_of(const CommonOptions& options);

/// The one backend that --backend and --isa name; if they name none, the library's selection for
/// the shape.
const Backend& backend_of(const CommonOptions& options, const TableShape& shape,
                          const Accuracy& accuracy = {});

/// Every backend that --backend names, each once; if it names none, every backend that runs here,
/// at --isa if given.
std::vector<const Backend*> backends_of(const CommonOptions& options);

}  // namespace posenc::cli
