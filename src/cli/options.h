// The options that subcommands share, parsed strictly, in one place.
#pragma once

#include "cli/subcommand.h"

#include "posenc/data_type.h"
#include "posenc/isa.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/spec.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

struct CommonOptions {
  std::vector<std::string> presets;
  std::optional<std::int64_t> rows;
  std::optional<std::int64_t> d_model;
  std::optional<std::int64_t> first;
  std::optional<double> base;
  std::optional<Layout> layout;
  std::optional<Spacing> spacing;
  std::vector<std::string> backends;
  std::optional<Isa> isa;
  DataType type = DataType::float32;
  std::optional<int> threads;
  std::string format;  ///< empty where not given
  std::string output;  ///< empty where not given
};

/// How often an option may be given.
enum class Times { once, often };

void add_preset_option(CLI::App& app, CommonOptions& options, Times times);
void add_shape_options(CLI::App& app,
                       CommonOptions& options);  ///< --preset (once) and what overrides it
void add_backend_options(CLI::App& app, CommonOptions& options, Times times);
void add_type_option(CLI::App& app, CommonOptions& options);  ///< --dtype
void add_threads_option(CLI::App& app, CommonOptions& options, const std::string& by_default);
void add_format_option(CLI::App& app, CommonOptions& options, std::vector<std::string> allowed,
                       const std::string& by_default);
void add_output_option(CLI::App& app, CommonOptions& options, const std::string& what);

/// Options of one subcommand alone use these. The whole text must be a number: no rest, no sign +,
/// no blanks.
void add_integer_option(CLI::App& app, std::optional<int>& value, const std::string& option,
                        int least, int most, const std::string& description);
CLI::Option* add_real_option(CLI::App& app, std::optional<double>& value, const std::string& option,
                             const std::string& description);

struct Shape {
  EncodingSpec spec;
  RowRange rows;
};

/// The preset (the tutorial's where none is given) with what the other options override; validated.
Shape shape_of(const CommonOptions& options);

/// The one backend that --backend and --isa name; if they name none, the library's selection for
/// the shape.
const Backend& backend_of(const CommonOptions& options, const Shape& shape,
                          const Accuracy& accuracy = {});

/// All that --backend names (each once); where it names none, every backend that runs here, at
/// --isa where given.
std::vector<const Backend*> backends_of(const CommonOptions& options);

}  // namespace posenc::cli
