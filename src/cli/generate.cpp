// posenc generate: writes a table, or the cache of a rotary embedding, to a file or standard
// output. It encodes the rows block by block as it writes them, in constant memory.
#include "cli/commands.h"
#include "cli/conformance.h"
#include "cli/little_endian.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/model/rotary.h"
#include "posenc/selection.h"
#include "posenc/support/with_type.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace posenc::cli {

using namespace model;
using namespace suite;
namespace {

const Names all_formats = {"npy", "safetensors", "raw", "csv"};

/// Size of the blocks in which a table is encoded and written.
constexpr std::int64_t block_bytes = std::int64_t{4} << 20;

struct Table {
  std::string name = "positional_encoding";  ///< name of the tensor in .safetensors
  std::int64_t columns = 0;
  RowPositions positions = RowRange{};
  std::vector<std::int64_t> cells = {};  ///< the positions if the rows are the cells of a grid
  /// Writes the rows of these positions.
  std::function<void(const RowPositions& positions, const OutputView& out, int threads)> encode;
  std::string description = "encoding";  ///< a line of metadata in .safetensors
};

/// The format that the options ask for. The default is csv on standard output, and npy in a file
/// without a suffix.
std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  if (is_standard_output(options.output)) return "csv";
  if (!std::filesystem::path(options.output).has_extension()) return "npy";
  throw_invalid("--output is '{}'; allowed suffixes: .{} (or give --format)", options.output,
                join(all_formats, ", ."));
}

/// NumPy's format, version 1.0:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_header(const Table& table, DataType type) {
  if (type == DataType::bfloat16) {
    throw InvalidArgument(
        "--dtype is bfloat16; allowed in npy: float32, float64, float16 (give --format "
        "safetensors)");
  }
  std::string fields =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}", size_of(type),
                  table.positions.count(), table.columns);
  constexpr std::size_t fixed = 10, alignment = 64;  // magic, version, and length of the fields
  fields.append(alignment - 1 - (fixed + fields.size()) % alignment, ' ') += '\n';
  const std::size_t length = fields.size();
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xff) +
         static_cast<char>(length >> 8) + fields;
}

/// The format of Hugging Face: the length of the fields in 8 bytes, the fields as JSON padded to a
/// multiple of 8 bytes, then the elements.
/// https://github.com/huggingface/safetensors
std::string safetensors_header(const Table& table, DataType type) {
  constexpr const char* types[] = {"F32", "F64", "F16", "BF16"};
  static_assert(std::size(types) == std::size(all_data_types));
  const std::int64_t rows = table.positions.count();
  Json header;
  header["__metadata__"] = {{"description", table.description}};
  header[table.name] = {
      {"dtype", types[static_cast<std::size_t>(type)]},
      {"shape", {rows, table.columns}},
      {"data_offsets", {0, table_bytes({.d_model = table.columns}, rows, size_of(type))}}};
  std::string fields = header.dump();
  fields.resize((fields.size() + 7) / 8 * 8, ' ');
  std::uint64_t length = fields.size();
  to_little_endian(std::span(&length, 1));
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + fields;
}

/// Appends one row as a line of csv. Each element has the fewest digits that read back as the same
/// value.
template <class T>
void append_csv(fmt::memory_buffer& text, std::span<const T> row) {
  using Printed = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (const T element : row)
    fmt::format_to(std::back_inserter(text), "{},", static_cast<Printed>(to_double(element)));
  text.data()[text.size() - 1] = '\n';
}

/// Throws InvalidArgument if the disk of the output has less space than the table needs. The space
/// of an existing file does not count as free: the file is replaced only at the end.
void check_space(const Options& options, double bytes) {
  const bool is_standard = is_standard_output(options.output);
  // The shell may redirect the standard output to a file.
  const std::filesystem::path file = is_standard ? "/dev/stdout" : options.output;
  std::error_code error;
  if (std::filesystem::is_other(file, error)) return;  // a terminal, a pipe
  const auto space = std::filesystem::space(
      is_standard ? file : std::filesystem::absolute(file).parent_path(), error);
  const bool is_unknown = error || space.capacity == 0;  // a file in memory is on no disk
  if (is_unknown || options.is_forced || bytes <= static_cast<double>(space.available)) return;
  throw_invalid("the table needs {}, and the disk of {} has {} free; allowed: less, or --force",
                bytes_text(bytes), is_standard ? "standard output" : options.output,
                bytes_text(static_cast<double>(space.available)));
}

template <class T>
void write_rows(OutputFile& output, const Table& table, const std::string& format,
                const Options& options, Progress& progress) {
  const std::int64_t all = table.positions.count();
  const std::int64_t row_bytes = table_bytes({.d_model = table.columns}, 1, sizeof(T));
  const std::int64_t block_rows = std::min(std::max<std::int64_t>(block_bytes / row_bytes, 1), all);
  BasicMatrix<T> block(block_rows, table.columns);
  for (std::int64_t done = 0; done < all; done += block_rows) {
    const std::int64_t rows = std::min(block_rows, all - done);
    table.encode(table.positions.part(done, rows), block.view(), options.thread_count(1));
    if (format == "csv") {
      fmt::memory_buffer text;
      for (std::int64_t r = 0; r < rows; ++r) append_csv<T>(text, block.row(r));
      if (done == 0) {  // the other blocks have about as many digits
        check_space(options, static_cast<double>(text.size()) / static_cast<double>(rows) *
                                 static_cast<double>(all));
      }
      output.write({text.data(), text.size()});
    } else {
      const std::span elements(block.data(), static_cast<std::size_t>(rows * table.columns));
      to_little_endian(elements);
      output.write(elements.data(), elements.size_bytes());
    }
    progress(static_cast<double>(done + rows) / static_cast<double>(all), "writing");
  }
}

/// Makes the table the cache of a rotary embedding, by default in vLLM's arrangement.
void set_rotary(Table& table, const Options& options, const RotarySpec& spec) {
  const auto rotary = std::make_shared<const Rotary>(spec, options.accuracy());
  rotary->selection().backend->check_supports(options.data_type());
  validate(table.positions, spec.angles.axes());
  const bool is_interleaved = options.rotary == "interleaved";
  const RotaryLayout layout = is_interleaved ? RotaryLayout::interleaved : RotaryLayout::halves;
  table.name = "rotary_cache";
  table.columns = rotary->dimension();
  table.encode = [=](const RowPositions& positions, const OutputView& out, int threads) {
    rotary->cache(positions, layout, out, threads);
  };
  table.description = fmt::format("rotary cache, {}, attention factor {}",
                                  is_interleaved ? "interleaved" : "halves", spec.attention_factor);
}

/// Makes the table the cache of the model that --config describes, by default at all its positions.
/// With --grid, its rows are the cells of the grid.
void set_model(Table& table, const Options& options) {
  // The rules "dynamic" and "longrope" depend on the length of the longest sequence.
  const std::int64_t first = options.first().value_or(0);
  std::optional<std::int64_t> length;
  if (options.rows && first >= 0 && *options.rows <= max_position - first)
    length = first + *options.rows;
  const RotaryReading reading = reading_of(options, length);
  const RotaryReading::Layers& layers = layers_of(reading, options.layers);
  if (!options.rows && !options.grid && reading.most_rows == 0) {
    throw InvalidArgument(
        "--rows is not given, and the configuration has no max_position_embeddings; allowed: "
        "--rows N");
  }
  table.positions = RowRange{first, options.rows.value_or(reading.most_rows)};
  if (options.grid) {
    if (options.rows)
      throw InvalidArgument("--rows is given with --grid; allowed with --config: one of them");
    const std::int64_t axes = layers.rotary.angles.axes();
    table.cells = positions_on_grid(options, layers.rotary.angles);
    const std::int64_t count = std::ssize(table.cells) / axes;
    table.positions = RowPositions(table.cells.data(), axes, count, count);
  }
  set_rotary(table, options, layers.rotary);
  const RotaryReading read = {reading.model_type, {layers}, reading.unturned};
  table.description += ", " + to_string(read);
}

void set_grid(Table& table, const Options& options) {
  AxesTable grid = axes_table(options.axes, options.grid);
  table.positions = grid.row_positions();
  table.cells = std::move(grid.positions);  // keeps the address of the elements
  if (!options.rotary.empty()) {
    set_rotary(table, options, {.angles = grid.spec});
  } else {
    const auto encoder =
        std::make_shared<const AxesEncoder>(grid.spec, options.accuracy(), options.data_type());
    table.columns = encoder->d_model();
    table.encode = [encoder](const RowPositions& rows, const OutputView& out, int threads) {
      encoder->encode(rows, out, threads);
    };
  }
  table.description += ", axes " + options.axes;
}

void set_shape(Table& table, const Options& options) {
  const MeasuredTable shape = tables_of(options).front();
  const EncodingSpec& spec = shape.spec;
  table.positions = shape.rows;
  if (!options.rotary.empty()) {
    set_rotary(table, options, rotary_spec(spec));
    table.description +=
        fmt::format(", base {}, frequencies {}", spec.base, to_string(spec.frequencies));
  } else {
    const Backend& backend =
        options.backends.empty()
            ? *select_backend(spec, shape.rows,
                              {.accuracy = options.accuracy(), .type = shape.type})
                   .backend
            : posenc::backend(options.backends.front());
    backend.check_supports(shape.type);
    const std::shared_ptr<const Encoder> encoder = backend.plan(spec);
    table.columns = spec.d_model;
    table.encode = [encoder](const RowPositions& rows, const OutputView& out, int threads) {
      rows.of_axis(0, [&](auto of_axis) { encoder->encode(of_axis, out, threads); });
    };
    table.description += ", " + spec_text(spec);
  }
}

int generate(const Options& options) {
  if (!options.conformance.empty()) {
    write_conformance_set(options.conformance);
    return good;
  }
  const std::string format = format_of(options);
  Table table;
  if (options.grid && options.config.empty() && options.axes.empty())
    throw InvalidArgument("--grid requires --axes or --config");
  if (!options.config.empty())
    set_model(table, options);
  else if (!options.axes.empty())
    set_grid(table, options);
  else
    set_shape(table, options);
  if (table.positions.is_range())
    table.description += fmt::format(", first position {}", table.positions.first());
  const DataType type = options.data_type();
  const std::string header = format == "npy"           ? npy_header(table, type)
                             : format == "safetensors" ? safetensors_header(table, type)
                                                       : "";
  // On a terminal, the progress would mix with the rows.
  Progress progress(!is_standard_output(options.output));
  if (format != "csv") {
    check_space(options, static_cast<double>(table.positions.count()) *
                             static_cast<double>(table.columns * size_of(type)));
  }
  OutputFile output = open_output(options.output);
  output.write(header);
  with_type(type, [&]<class T>(T) { write_rows<T>(output, table, format, options, progress); });
  output.commit();
  return good;
}

}  // namespace

void add_generate_command(CLI::App& program, Options& options) {
  CLI::App& app = add_command(
      program, options, generate, "generate",
      "Write a table as .npy, .safetensors, raw little-endian elements, or csv",
      {{"posenc generate --rows 3 --d-model 4", "the first values of the paper, as csv"},
       {"posenc generate --preset whisper --output whisper.npy",
        "the table of a model, for numpy.load"},
       {"posenc generate --preset llama_3_1 --rotary halves --output cache.npy",
        "the cosines and sines that vLLM caches"},
       {"posenc generate --axes flux --grid 1,64,64 --rotary interleaved --output f.npy",
        "the rotary cache of an image's cells"},
       {"posenc generate --config config.json --output rotary.safetensors",
        "the rotary cache of a model, from its config.json"},
       {"posenc generate --dtype bfloat16 --rows 5000 --output table.safetensors",
        "the tensor positional_encoding, for safetensors.torch.load_file"},
       {"posenc generate --conformance set", "tables that test another implementation"}});
  add_preset(app, options, Values::one);
  add_size(app, options, Values::one);
  add_first(app, options, Values::one);
  add_convention(app, options);
  add_text(app, "--backend", "NAME", options.backends,
           "backend, or backend:isa (default: the fastest that promises the accuracy)");
  add_accuracy(app, options);
  exclude(app, "--backend", {"--max-error", "--max-ulp"});
  add_model(app, options);
  add_choice(app, "--rotary",
             "write the cosines and sines of a rotary embedding of dimension --d-model, "
             "multiplied by its attention factor, in this layout",
             Names{"halves", "interleaved"}, "", options.rotary);
  exclude(app, "--rotary", {"--backend", "--layout"});
  for (const char* const source : {"--config", "--axes"}) {
    exclude(app, source, convention_options);
    exclude(app, source, {"--shape", "--d-model", "--backend"});
  }
  exclude(app, "--axes", {"--rows", "--first", "--config"});
  add_type(app, options, Values::one);
  add_threads(app, options, Values::one);
  add_output(app, options, all_formats, "npy; csv on standard output");
  add_flag(app, "--force", options.is_forced,
           "write the file even if its disk seems to have too little space");
  add_conformance(
      app, options,
      "write a conformance set, tables that test another implementation, into this folder");
}

}  // namespace posenc::cli
