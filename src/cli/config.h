// The options of commands that read a model's config.json.
#pragma once

#include "cli/options.h"
#include "cli/subcommand.h"

#include "posenc/model/rotary_config.h"

#include <optional>
#include <string>

namespace posenc::cli {

struct ConfigOptions {
  std::string file;            ///< empty if not given
  std::string layers;          ///< the kind of layers, empty if not given
  std::optional<int> longest;  ///< rows of the longest sequence

  bool is_given() const noexcept { return !file.empty(); }
};

/// --config, --layers and --longest.
void add_config_options(CLI::App& command, ConfigOptions& options);

/// What the file, or config.json in the folder, says. Throws InvalidArgument, or std::system_error
/// if it cannot be read.
RotaryReading reading_of(const ConfigOptions& options);

/// The rotary embedding of the layers that the options name.
RotarySpec rotary_spec_of(const ConfigOptions& options);

/// The rows that --first and --rows name; by default all positions of the model.
RowRange rows_of(const RotaryReading& reading, const CommonOptions& options);

}  // namespace posenc::cli
