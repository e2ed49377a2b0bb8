#include "cli/config.h"

#include "posenc/support/format.h"
#include "posenc/support/input_file.h"

#include <filesystem>
#include <limits>

namespace posenc::cli {

void add_config_options(CLI::App& command, ConfigOptions& options) {
  add_file_option(command, options.file, "--config",
                  "a model's rotary embedding: its config.json, or the folder that holds it");
  add_text_option(command, options.layers, "--layers", "KIND",
                  "kind of layers, for a model with several, such as sliding_attention");
  add_integer_option(command, options.longest, "--longest", 1, std::numeric_limits<int>::max(),
                     "rows of the longest sequence, on which some rules depend (default: the "
                     "model's max_position_embeddings)");
}

RotaryReading reading_of(const ConfigOptions& options) {
  std::filesystem::path file = options.file;
  if (std::filesystem::is_directory(file)) file /= "config.json";
  const std::string text = read_document(file);
  try {
    return read_rotary_config(text, {.rows = options.longest, .channels = {}});
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(format_text("{}: {}", file.string(), error.what()));
  }
}

RotarySpec rotary_spec_of(const ConfigOptions& options) {
  return layers_of(reading_of(options), options.layers).rotary;
}

RowRange rows_of(const RotaryReading& reading, const CommonOptions& options) {
  if (!options.rows && reading.most_rows == 0) {
    throw InvalidArgument(
        "--rows is not given, and the configuration has no max_position_embeddings; allowed: "
        "--rows N");
  }
  const RowRange rows = {options.first.value_or(0), options.rows.value_or(reading.most_rows)};
  validate(rows);
  return rows;
}

}  // namespace posenc::cli
