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
  const auto refuse_if = [&](bool is_wrong, const char* message) {
    if (is_wrong) throw InvalidArgument(fmt::format(fmt::runtime(message), file.format));
  };
  refuse_if(file.digits && file.format != "csv",
            "--digits is given with --format {}; allowed with csv only");
  refuse_if(file.type == DataType::bfloat16 && file.format == "npy",
            "--dtype is bfloat16; allowed in {}: float32, float64, float16 (give --format "
            "safetensors)");
  refuse_if(file.tensors.size() > 1 && file.format != "safetensors",
            "--rotary is 'apart'; allowed in {}: halves, interleaved, cosines, sines (give "
            "--format safetensors)");
}

/// The rows of a shape, by one backend.
void add_encoding(TableFile& file, const Options& options, const TableShape& shape) {
  const std::shared_ptr<const Encoder> encoder = options.like
                                                     ? plan_like(*options.like, shape.spec)
                                                     : backend_of(options, shape).plan(shape.spec);
  encoder->backend().check_supports(file.type);
  file.add("positional_encoding", shape.spec.d_model,
           [encoder](const RowPositions& rows, const OutputView& out, int threads) {
             rows.of_axis(0, [&](auto of_axis) { encoder->encode(of_axis, out, threads); });
           });
}

/// Rows at any positions of one or more axes.
void add_encoding(TableFile& file, const Options& options, const AxesSpec& spec) {
  const auto encoder = std::make_shared<const AxesEncoder>(spec, options.accuracy(), file.type);
  file.add("positional_encoding", encoder->d_model(),
           [encoder](const RowPositions& rows, const OutputView& out, int threads) {
             encoder->encode(rows, out, threads);
           });
}

/// The cache of a rotary embedding, by default vLLM's.
void add_rotary(TableFile& file, const Options& options, const RotarySpec& spec) {
  const auto rotary = std::make_shared<const Rotary>(spec, options.accuracy());
  rotary->selection().backend->check_supports(file.type);
  validate(file.positions, spec.angles.axes());
  const std::string tables = options.rotary.empty() ? "halves" : options.rotary;
  if (tables == "halves" || tables == "interleaved") {
    if (options.repeat) {
      throw InvalidArgument(fmt::format(
          "--repeat is given with --rotary {}; allowed with cosines, sines and apart", tables));
    }
    const auto layout = tables == "halves" ? RotaryLayout::halves : RotaryLayout::interleaved;
    file.add("rotary_cache", rotary->dimension(),
             [=](const RowPositions& positions, const OutputView& out, int threads) {
               rotary->cache(positions, layout, out, threads);
             });
  }
  const Repeat repeat = options.repeat.value_or(Repeat::once);
  const std::int64_t columns = rotary->dimension() / (repeat == Repeat::once ? 2 : 1);
  for (const std::string name : {"cosines", "sines"}) {
    if (tables != "apart" && tables != name) continue;
    // The library computes both, and the others are not kept.
    file.add(name, columns, [=](const RowPositions& positions, const OutputView& out, int threads) {
      with_type(out.type, [&]<class T>(T) {
        BasicMatrix<T> others(positions.count(), columns);
        const OutputView rest = others.view();
        const bool is_cosines = name == "cosines";
        rotary->cosines_and_sines(positions, repeat, is_cosines ? out : rest,
                                  is_cosines ? rest : out, threads);
      });
    });
  }
  file.metadata = {{"rotary", tables},
                   {"dimension", fmt::to_string(spec.dimension())},
                   {"attention_factor", fmt::to_string(spec.attention_factor)}};
}

/// The cache of the model that --config describes; by default at all its positions.
void add_model(TableFile& file, const Options& options) {
  const RotaryReading reading = reading_of(options);
  const RotaryReading::Layers& layers = layers_of(reading, options.layers);
  if (options.positions.empty()) {
    if (!options.rows && reading.most_rows == 0) {
      throw InvalidArgument(
          "--rows is not given, and the configuration has no max_position_embeddings; allowed: "
          "--rows N");
    }
    file.positions = RowRange{options.first.value_or(0), options.rows.value_or(reading.most_rows)};
  }
  add_rotary(file, options, layers.rotary);
  const RotaryReading read = {reading.model_type, {layers}, reading.unturned};
  file.metadata["model"] = to_string(read);
}

void add_grid(TableFile& file, const Options& options, const AxesTable& grid) {
  file.positions = grid.row_positions();
  if (options.rotary.empty())
    add_encoding(file, options, grid.spec);
  else
    add_rotary(file, options, {.angles = grid.spec});
  file.metadata["axes"] = options.axes;
}

void add_shape(TableFile& file, const Options& options) {
  const TableShape shape = shape_of(options);
  const EncodingSpec& spec = shape.spec;
  if (options.positions.empty()) file.positions = shape.rows;
  validate(file.positions, 1);
  if (!options.rotary.empty()) {
    add_rotary(file, options, rotary_spec(spec));
  } else {
    file.metadata = {{"d_model", fmt::to_string(spec.d_model)}, {"layout", to_string(spec.layout)}};
    if (options.positions.empty())
      add_encoding(file, options, shape);
    else
      add_encoding(file, options, one_axis(spec));
  }
  file.metadata.update({{"base", fmt::to_string(spec.base)},
                        {"spacing", to_string(spec.spacing)},
                        {"frequencies", to_string(spec.frequencies)}});
}

int generate(const Options& options) {
  TableFile file = {.format = format_of(options),
                    .type = options.data_type(),
                    .threads = options.threads.value_or(1),
                    .digits = options.digits};
  FilePositions given;
  AxesTable grid;
  if (!options.positions.empty()) {
    given = read_positions(options.positions);
    file.positions = given.view();
  }
  if (!options.config.empty()) {
    add_model(file, options);
  } else if (!options.axes.empty()) {
    grid = axes_table(options.axes, options.grid);
    add_grid(file, options, grid);
  } else {
    add_shape(file, options);
  }
  if (file.positions.is_range()) file.metadata["first"] = fmt::to_string(file.positions.first());
  check_format(file);
  check_terminal(options, file);
  // On a terminal it would mix with the rows.
  Progress progress(!is_standard_output(options.output));
  Output output(options.output);
  write_table(output, file, progress);
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
