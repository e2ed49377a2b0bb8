// posenc generate: a table, or the cache of a rotary embedding, to a file or standard output.
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/positions_file.h"
#include "cli/progress.h"
#include "cli/rotary_tensors.h"
#include "cli/table_file.h"
#include "cli/text.h"

#include "posenc/model/rotary.h"
#include "posenc/support/streams.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace posenc::cli {
namespace {

constexpr int most_digits = 17;
constexpr std::int64_t most_entries_shown = 10000;

struct GenerateOptions {
  CommonOptions common;
  RotaryOptions rotary;
  ConfigOptions config;
  AxesOptions axes;
  std::string positions;  ///< a file; empty: the rows of the shape
  std::optional<System> like;
  std::optional<int> digits;
  std::optional<double> max_error;
  std::optional<double> max_ulp;
};

Accuracy accuracy_of(const GenerateOptions& options) {
  if (options.max_error) return Accuracy::within(*options.max_error);
  if (options.max_ulp) return Accuracy::within_ulp(*options.max_ulp);
  return {};
}

/// The format asked for; by default csv on standard output, and npy in a file without a suffix.
std::string format_of(const CommonOptions& options) {
  if (!options.format.empty()) return options.format;
  if (is_standard_output(options.output)) return "csv";
  if (!std::filesystem::path(options.output).has_extension()) return "npy";
  throw InvalidArgument(fmt::format("--output is '{}'; allowed suffixes: .{} (or give --format)",
                                    options.output, fmt::join(options.formats, ", .")));
}

/// A terminal gets no bytes, and a table of many pages only if --format or --output asks for it.
void check_terminal(const CommonOptions& options, const TableFile& table) {
  if (!is_standard_output(options.output) || !is_terminal(standard_output)) return;
  if (table.format != "csv") {
    throw InvalidArgument(fmt::format(
        "--format is {}; allowed on a terminal: csv (give --output FILE)", table.format));
  }
  const std::int64_t entries = table.positions.count() * table.columns();
  const bool is_asked_for = !options.format.empty() || !options.output.empty();
  if (is_asked_for || entries <= most_entries_shown) return;
  throw InvalidArgument(
      fmt::format("the table has {} entries; allowed on a terminal: up to {} (give --output FILE, "
                  "or --format csv to print them all)",
                  count_text(entries), count_text(most_entries_shown)));
}

/// The first position, or empty text for positions of a file.
std::string first_text(const RowPositions& positions) {
  return positions.is_range() ? fmt::to_string(positions.first()) : "";
}

void check_space(const std::string& file, std::int64_t bytes) {
  std::error_code error;
  if (const auto status = std::filesystem::status(file, error);
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return;  // a device or a pipe
  }
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  const auto space = std::filesystem::space(folder, error);
  if (error || static_cast<std::uintmax_t>(bytes) <= space.available)
    return;  // opening the file will fail with the reason
  throw std::system_error(
      ENOSPC, std::generic_category(),
      fmt::format("cannot write {}: the table takes {}, {} are free", file, bytes_text(bytes),
                  bytes_text(static_cast<std::int64_t>(space.available))));
}

/// An encoder of exact phases, or like that of another system.
std::unique_ptr<const Encoder> encoder_of(const GenerateOptions& options, const TableShape& shape) {
  if (options.like) return plan_like(*options.like, shape.spec);
  return backend_of(options.common, shape, accuracy_of(options)).plan(shape.spec);
}

/// Encodes the rows of the shape by one backend, or positions of a file, which may be anywhere.
Tensor encoding(const GenerateOptions& options, const TableShape& shape) {
  const int threads = options.common.threads.value_or(1);
  Tensor tensor = {"positional_encoding", shape.spec.d_model, {}};
  if (!options.positions.empty()) {
    const auto encoder = std::make_shared<const AxesEncoder>(
        one_axis(shape.spec), accuracy_of(options), options.common.type);
    tensor.encode = [=](const RowPositions& rows, const OutputView& out) {
      encoder->encode(rows, out, threads);
    };
    return tensor;
  }
  const std::shared_ptr<const Encoder> encoder = encoder_of(options, shape);
  encoder->backend().check_supports(options.common.type);
  tensor.encode = [=](const RowPositions& rows, const OutputView& out) {
    rows.of_axis(0, [&](auto of_axis) { encoder->encode(of_axis, out, threads); });
  };
  return tensor;
}

TableFile plain_file(const GenerateOptions& options, const TableShape& shape,
                     const RowPositions& positions) {
  validate(positions, 1);
  return {.format = format_of(options.common),
          .type = options.common.type,
          .tensors = {encoding(options, shape)},
          .positions = positions,
          .metadata = {{"d_model", fmt::to_string(shape.spec.d_model)},
                       {"layout", std::string(to_string(shape.spec.layout))},
                       {"first", first_text(positions)}},
          .digits = options.digits};
}

/// The cache of any rotary embedding.
TableFile rotary_file(const GenerateOptions& options, const RotarySpec& spec,
                      const RowPositions& positions) {
  const auto rotary = std::make_shared<const Rotary>(spec, accuracy_of(options));
  rotary->selection().backend->check_supports(options.common.type);
  validate(positions, spec.angles.axes());
  const std::string tables(to_string(*options.rotary.tables));
  return {.format = format_of(options.common),
          .type = options.common.type,
          .tensors = rotary_tensors(rotary, options.rotary, options.common.threads.value_or(1)),
          .positions = positions,
          .metadata = {{"rotary", tables},
                       {"dimension", fmt::to_string(spec.dimension())},
                       {"attention_factor", fmt::to_string(spec.attention_factor)},
                       {"first", first_text(positions)}},
          .digits = options.digits};
}

void check_format(const GenerateOptions& options, const TableFile& file) {
  if (options.digits && file.format != "csv") {
    throw InvalidArgument(
        fmt::format("--digits is {}; allowed with --format csv only, here it is {}",
                    *options.digits, file.format));
  }
  if (file.format == "npy" && file.type == DataType::bfloat16) {
    throw InvalidArgument(
        "--dtype is bfloat16; allowed in npy: float32, float64, float16 (give --format "
        "safetensors)");
  }
  if (file.tensors.size() > 1 && file.format != "safetensors") {
    throw InvalidArgument(fmt::format(
        "--rotary is 'apart'; allowed in {}: halves, interleaved, cosines, sines (give --format "
        "safetensors)",
        file.format));
  }
}

void add_convention(std::vector<std::pair<std::string, std::string>>& metadata,
                    const EncodingSpec& spec) {
  metadata.emplace_back("base", fmt::to_string(spec.base));
  metadata.emplace_back("spacing", to_string(spec.spacing));
  metadata.emplace_back("frequencies", to_string(spec.frequencies));
}

TableFile file_of_options(const GenerateOptions& options,
                          const std::optional<FilePositions>& given) {
  const TableShape shape = shape_of(options.common);
  const RowPositions positions = given ? given->view() : RowPositions(shape.rows);
  TableFile table = options.rotary.tables ? rotary_file(options, rotary_spec(shape.spec), positions)
                                          : plain_file(options, shape, positions);
  add_convention(table.metadata, shape.spec);
  return table;
}

/// The cache of a model's rotary embedding, by default vLLM's.
TableFile file_of_config(GenerateOptions options, const std::optional<FilePositions>& given) {
  const RotaryReading reading = reading_of(options.config);
  const RotaryReading::Layers& layers = layers_of(reading, options.config.layers);
  const RowPositions positions =
      given ? given->view() : RowPositions(rows_of(reading, options.common));
  if (!options.rotary.tables) options.rotary.tables = RotaryTables::halves;
  TableFile table = rotary_file(options, layers.rotary, positions);
  const RotaryReading read = {reading.model_type, {layers}, reading.unturned};
  table.metadata.emplace_back("model", to_string(read));
  return table;
}

/// The cells of a grid as a plain table. `table` must outlive the result.
TableFile plain_file_of_axes(const GenerateOptions& options, const AxesTable& table) {
  const auto encoder =
      std::make_shared<const AxesEncoder>(table.spec, accuracy_of(options), options.common.type);
  const int threads = options.common.threads.value_or(1);
  Tensor tensor = {"positional_encoding", encoder->d_model(),
                   [=](const RowPositions& rows, const OutputView& out) {
                     encoder->encode(rows, out, threads);
                   }};
  return {.format = format_of(options.common),
          .type = options.common.type,
          .tensors = {std::move(tensor)},
          .positions = table.row_positions(),
          .metadata = {},
          .digits = options.digits};
}

TableFile file_of_axes(const GenerateOptions& options, const AxesTable& table) {
  TableFile file = options.rotary.tables
                       ? rotary_file(options, {.angles = table.spec}, table.row_positions())
                       : plain_file_of_axes(options, table);
  file.metadata.emplace_back("axes", options.axes.preset);
  return file;
}

TableFile file_of(const GenerateOptions& options, const std::optional<FilePositions>& given) {
  if (options.config.is_given()) return file_of_config(options, given);
  if (!options.config.layers.empty() || options.config.longest)
    throw InvalidArgument("--config is not given; allowed with --layers and --longest: a file");
  return file_of_options(options, given);
}

int generate(const GenerateOptions& options) {
  std::optional<FilePositions> given;
  if (!options.positions.empty()) given = read_positions(options.positions);
  std::optional<AxesTable> axes;
  if (!options.axes.preset.empty()) axes = axes_table(options.axes.preset, options.axes.grid);
  if (!axes && options.axes.grid)
    throw InvalidArgument("--axes is not given; allowed with --grid: the name of a system");
  const TableFile table = axes ? file_of_axes(options, *axes) : file_of(options, given);
  check_format(options, table);
  check_terminal(options.common, table);
  const std::string& file = options.common.output;
  if (!is_standard_output(file)) check_space(file, least_bytes(table));

  Progress progress(!is_standard_output(file));  // on a terminal it would mix with the rows
  Output output(file);
  write_table(output, table, progress);
  output.finish();
  return good;
}

}  // namespace

void add_generate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App& command = add_subcommand(
      app, "generate", "Write a table: .npy, .safetensors, raw (little-endian elements) or csv",
      action, [options] { return generate(*options); });
  add_shape_options(command, options->common);
  add_backend_options(command, options->common, Times::once);
  add_real_option(
      command, options->max_error, "--max-error", Sign::positive,
      "take the fastest backend that promises |error| up to X (default: correctly rounded)");
  add_real_option(command, options->max_ulp, "--max-ulp", Sign::positive, "the same in ulp");
  exclude(command, "--max-error", {"--backend", "--max-ulp"});
  exclude(command, "--max-ulp", {"--backend"});
  add_rotary_options(command, options->rotary);
  exclude(command, "--rotary", {"--backend", "--isa", "--layout"});
  add_config_options(command, options->config);
  exclude(command, "--config",
          {"--preset", "--d-model", "--base", "--layout", "--spacing", "--frequencies", "--backend",
           "--isa"});
  add_axes_options(command, options->axes);
  exclude(command, "--axes",
          {"--preset", "--d-model", "--base", "--layout", "--spacing", "--frequencies", "--backend",
           "--isa", "--rows", "--first", "--config"});
  add_file_option(
      command, options->positions, "--positions",
      "positions of the rows: a .npy file of int32 or int64, of shape (rows), or (axes, "
      "rows)");
  exclude(command, "--positions", {"--rows", "--first", "--backend", "--isa", "--axes"});
  add_like_option(command, options->like);
  exclude(command, "--like",
          {"--backend", "--isa", "--max-error", "--max-ulp", "--rotary", "--config", "--axes",
           "--positions"});
  add_type_option(command, options->common);
  add_threads_option(command, options->common, "1");
  add_format_option(command, options->common, {"npy", "safetensors", "raw", "csv"},
                    "npy; csv on standard output");
  add_integer_option(
      command, options->digits, "--digits", 0, most_digits,
      "decimals in csv (default: as many as it takes to read the values back exactly)");
  add_output_option(command, options->common);
  describe(
      command,
      {{"posenc generate --rows 3 --d-model 4", "the paper's first values, as csv"},
       {"posenc generate --preset whisper --output whisper.npy", "a model's table, for numpy.load"},
       {"posenc generate --preset llama_3_1 --rotary halves --output cache.npy",
        "vLLM's cache of cosines and sines"},
       {"posenc generate --axes flux --grid 1,64,64 --rotary interleaved --output f.npy",
        "the rotary cache of an image's cells"},
       {"posenc generate --config config.json --output rotary.safetensors",
        "the rotary cache of a model, from its config.json"},
       {"posenc generate --preset llama_3_1 --like transformers --output cache.npy",
        "phases of float32, as Transformers computes them"},
       {"posenc generate --dtype bfloat16 --rows 5000 --output table.safetensors",
        "the tensor positional_encoding, for safetensors.torch.load_file"}});
}

}  // namespace posenc::cli
