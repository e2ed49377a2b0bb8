// posenc generate: a table, or the cache of a rotary embedding, to a file or standard output.
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table_file.h"
#include "cli/text.h"

#include "posenc/model/rotary.h"
#include "posenc/support/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace posenc::cli {
namespace {

const Names formats = {"npy", "safetensors", "raw", "csv"};
constexpr std::int64_t most_entries_shown = 10000;

/// The format asked for; by default csv on standard output, and npy in a file without a suffix.
std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  if (is_standard_output(options.output)) return "csv";
  if (!std::filesystem::path(options.output).has_extension()) return "npy";
  throw InvalidArgument(fmt::format("--output is '{}'; allowed suffixes: .{} (or give --format)",
                                    options.output, fmt::join(formats, ", .")));
}

/// A terminal gets no bytes, and a table of many pages only if --format or --output asks for it.
void check_terminal(const Options& options, const TableFile& file) {
  if (!is_standard_output(options.output) || !is_terminal(standard_output)) return;
  if (file.format != "csv") {
    throw InvalidArgument(fmt::format(
        "--format is {}; allowed on a terminal: csv (give --output FILE)", file.format));
  }
  const std::int64_t entries = file.positions.count() * file.columns();
  const bool is_asked_for = !options.format.empty() || !options.output.empty();
  if (is_asked_for || entries <= most_entries_shown) return;
  throw InvalidArgument(
      fmt::format("the table has {} entries; allowed on a terminal: up to {} (give --output FILE, "
                  "or --format csv to print them all)",
                  count_text(static_cast<double>(entries)), count_text(most_entries_shown)));
}

void check_format(const TableFile& file) {
  const auto refuse = [](const std::string& is, const std::string& allowed) {
    throw InvalidArgument(fmt::format("{}; allowed {}", is, allowed));
  };
  if (file.digits && file.format != "csv")
    refuse(fmt::format("--digits is {} and --format {}", *file.digits, file.format),
           "with csv only");
  if (file.type == DataType::bfloat16 && file.format == "npy")
    refuse("--dtype is bfloat16", "in npy: float32, float64, float16 (give --format safetensors)");
  if (file.tensors.size() > 1 && file.format != "safetensors")
    refuse("--rotary is 'apart'",
           fmt::format("in {}: halves, interleaved, cosines, sines (give --format safetensors)",
                       file.format));
}

int threads_of(const Options& options) { return options.threads.value_or(1); }

/// The rows of a shape, by one backend.
void add_encoding(TableFile& file, const Options& options, const TableShape& shape) {
  const std::shared_ptr<const Encoder> encoder = options.like
                                                     ? plan_like(*options.like, shape.spec)
                                                     : backend_of(options, shape).plan(shape.spec);
  encoder->backend().check_supports(file.type);
  file.tensors.push_back(
      {"positional_encoding", shape.spec.d_model,
       [=, threads = threads_of(options)](const RowPositions& rows, const OutputView& out) {
         rows.of_axis(0, [&](auto of_axis) { encoder->encode(of_axis, out, threads); });
       }});
}

/// Rows at any positions of one or more axes.
void add_encoding(TableFile& file, const Options& options, const AxesSpec& spec) {
  const auto encoder = std::make_shared<const AxesEncoder>(spec, options.accuracy(), file.type);
  file.tensors.push_back(
      {"positional_encoding", encoder->d_model(),
       [=, threads = threads_of(options)](const RowPositions& rows, const OutputView& out) {
         encoder->encode(rows, out, threads);
       }});
}

/// Cosines or sines. The library computes both, and the others are not kept.
Tensor tensor_of_one(const std::shared_ptr<const Rotary>& rotary, bool is_cosines, Repeat repeat,
                     int threads) {
  const std::int64_t columns = rotary->dimension() / (repeat == Repeat::once ? 2 : 1);
  return {is_cosines ? "cosines" : "sines", columns,
          [=](const RowPositions& positions, const OutputView& out) {
            with_type(out.type, [&]<class T>(T) {
              BasicMatrix<T> others(positions.count(), columns);
              const OutputView rest = others.view();
              rotary->cosines_and_sines(positions, repeat, is_cosines ? out : rest,
                                        is_cosines ? rest : out, threads);
            });
          }};
}

/// The cache of a rotary embedding, by default vLLM's.
void add_rotary(TableFile& file, const Options& options, const RotarySpec& spec) {
  const auto rotary = std::make_shared<const Rotary>(spec, options.accuracy());
  rotary->selection().backend->check_supports(file.type);
  validate(file.positions, spec.angles.axes());
  const std::string tables = options.rotary.empty() ? "halves" : options.rotary;
  const int threads = threads_of(options);
  const bool is_one_table = tables == "halves" || tables == "interleaved";
  if (is_one_table && !options.repeat.empty()) {
    throw InvalidArgument(fmt::format(
        "--repeat is given with --rotary {}; allowed with cosines, sines and apart", tables));
  }
  if (is_one_table) {
    const auto layout = tables == "halves" ? RotaryLayout::halves : RotaryLayout::interleaved;
    file.tensors.push_back({"rotary_cache", rotary->dimension(),
                            [=](const RowPositions& positions, const OutputView& out) {
                              rotary->cache(positions, layout, out, threads);
                            }});
  }
  const auto repeat =
      options.repeat.empty() ? repeats.begin() : std::ranges::find(repeats, options.repeat);
  for (const bool is_cosines : {true, false}) {
    if (tables != "apart" && tables != (is_cosines ? "cosines" : "sines")) continue;
    file.tensors.push_back(
        tensor_of_one(rotary, is_cosines, static_cast<Repeat>(repeat - repeats.begin()), threads));
  }
  file.metadata = {{"rotary", tables},
                   {"dimension", fmt::to_string(spec.dimension())},
                   {"attention_factor", fmt::to_string(spec.attention_factor)}};
}

/// The rows that --first and --rows name; by default all positions of the model.
RowRange rows_of(const RotaryReading& reading, const Options& options) {
  if (!options.rows && reading.most_rows == 0) {
    throw InvalidArgument(
        "--rows is not given, and the configuration has no max_position_embeddings; allowed: "
        "--rows N");
  }
  const RowRange rows = {options.first.value_or(0), options.rows.value_or(reading.most_rows)};
  validate(rows);
  return rows;
}

void add_convention(TableFile& file, const EncodingSpec& spec) {
  file.metadata.emplace_back("base", fmt::to_string(spec.base));
  file.metadata.emplace_back("spacing", to_string(spec.spacing));
  file.metadata.emplace_back("frequencies", to_string(spec.frequencies));
}

/// `given` and `grid` must outlive the result.
TableFile file_of(const Options& options, const FilePositions* given, const AxesTable* grid) {
  TableFile file = {.format = format_of(options),
                    .type = options.data_type(),
                    .tensors = {},
                    .positions = given != nullptr ? given->view() : RowRange{},
                    .metadata = {},
                    .digits = options.digits};
  if (!options.config.empty()) {
    const RotaryReading reading = reading_of(options);
    const RotaryReading::Layers& layers = layers_of(reading, options.layers);
    if (given == nullptr) file.positions = rows_of(reading, options);
    add_rotary(file, options, layers.rotary);
    const RotaryReading read = {reading.model_type, {layers}, reading.unturned};
    file.metadata.emplace_back("model", to_string(read));
  } else if (grid != nullptr) {
    file.positions = grid->row_positions();
    if (options.rotary.empty()) {
      add_encoding(file, options, grid->spec);
    } else {
      add_rotary(file, options, {.angles = grid->spec});
    }
    file.metadata.emplace_back("axes", options.axes);
  } else {
    const TableShape shape = shape_of(options);
    if (given == nullptr) file.positions = shape.rows;
    validate(file.positions, 1);
    if (!options.rotary.empty()) {
      add_rotary(file, options, rotary_spec(shape.spec));
    } else {
      file.metadata = {{"d_model", fmt::to_string(shape.spec.d_model)},
                       {"layout", std::string(to_string(shape.spec.layout))}};
      if (given != nullptr) {
        add_encoding(file, options, one_axis(shape.spec));
      } else {
        add_encoding(file, options, shape);
      }
    }
    add_convention(file, shape.spec);
  }
  if (file.positions.is_range())
    file.metadata.emplace_back("first", fmt::to_string(file.positions.first()));
  return file;
}

int generate(const Options& options) {
  std::optional<FilePositions> given;
  if (!options.positions.empty()) given = read_positions(options.positions);
  std::optional<AxesTable> grid;
  if (!options.axes.empty()) grid = axes_table(options.axes, options.grid);
  const TableFile table = file_of(options, given ? &*given : nullptr, grid ? &*grid : nullptr);
  check_format(table);
  check_terminal(options, table);
  Progress progress(
      !is_standard_output(options.output));  // on a terminal it would mix with the rows
  Output output(options.output);
  write_table(output, table, progress);
  output.finish();
  return good;
}

}  // namespace

Subcommand generate_command() {
  const std::string of_shape =
      "--preset --d-model --base --layout --spacing --frequencies --backend --isa ";
  return {.name = "generate",
          .description = "Write a table: .npy, .safetensors, raw (little-endian elements) or csv",
          .run = generate,
          .options = "--preset --rows" + spec_options +
                     "--backend --isa --max-error --max-ulp --rotary --repeat --config --layers "
                     "--longest --axes --grid --positions --like --dtype --threads --digits",
          .examples =
              {{"posenc generate --rows 3 --d-model 4", "the paper's first values, as csv"},
               {"posenc generate --preset whisper --output whisper.npy",
                "a model's table, for numpy.load"},
               {"posenc generate --preset llama_3_1 --rotary halves --output cache.npy",
                "vLLM's cache of cosines and sines"},
               {"posenc generate --axes flux --grid 1,64,64 --rotary interleaved --output f.npy",
                "the rotary cache of an image's cells"},
               {"posenc generate --config config.json --output rotary.safetensors",
                "the rotary cache of a model, from its config.json"},
               {"posenc generate --preset llama_3_1 --like transformers --output cache.npy",
                "phases of float32, as Transformers computes them"},
               {"posenc generate --dtype bfloat16 --rows 5000 --output table.safetensors",
                "the tensor positional_encoding, for safetensors.torch.load_file"}},
          .excludes = {{"--max-error", "--backend --max-ulp"},
                       {"--max-ulp", "--backend"},
                       {"--rotary", "--backend --isa --layout"},
                       {"--config", of_shape},
                       {"--axes", of_shape + "--rows --first --config"},
                       {"--positions", "--rows --first --backend --isa --axes"},
                       {"--like",
                        "--backend --isa --max-error --max-ulp --rotary --config --axes "
                        "--positions"}},
          .needs = {{"--layers", "--config"},
                    {"--longest", "--config"},
                    {"--grid", "--axes"},
                    {"--repeat", "--rotary"}},
          .formats = formats,
          .default_format = "npy; csv on standard output"};
}

}  // namespace posenc::cli
