// posenc generate: a table as .npy, .safetensors, raw or csv, to a file or standard output, in
// constant memory.
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "posenc/support/little_endian.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace posenc::cli {
namespace {

/// Size of the blocks in which a table is encoded and written.
constexpr std::int64_t block_bytes = std::int64_t{4} << 20;
constexpr int most_digits = 17;
constexpr std::int64_t most_entries_shown = 10000;

struct GenerateOptions {
  CommonOptions common;
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

/// An encoder of exact phases, or like that of another system.
std::unique_ptr<const Encoder> encoder_of(const GenerateOptions& options, const TableShape& shape) {
  if (options.like) return plan_like(*options.like, shape.spec);
  return backend_of(options.common, shape, accuracy_of(options)).plan(shape.spec);
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
void check_terminal(const CommonOptions& options, const TableShape& shape,
                    const std::string& format) {
  if (!is_standard_output(options.output) || ::isatty(STDOUT_FILENO) != 1) return;
  if (format != "csv") {
    throw InvalidArgument(
        fmt::format("--format is {}; allowed on a terminal: csv (give --output FILE)", format));
  }
  const std::int64_t entries = shape.rows.count * shape.spec.d_model;
  const bool is_asked_for = !options.format.empty() || !options.output.empty();
  if (is_asked_for || entries <= most_entries_shown) return;
  throw InvalidArgument(
      fmt::format("the table has {} entries; allowed on a terminal: up to {} (give --output FILE, "
                  "or --format csv to print them all)",
                  count_text(entries), count_text(most_entries_shown)));
}

/// NumPy's format, version 1.0:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_header(const TableShape& shape, DataType type) {
  std::string fields =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}", size_of(type),
                  shape.rows.count, shape.spec.d_model);
  constexpr std::size_t fixed = 10;  // magic, version, and length of the fields
  constexpr std::size_t alignment = 64;
  const std::size_t padding = alignment - (fixed + fields.size() + 1) % alignment;
  fields += std::string(padding, ' ') + '\n';
  const auto length = static_cast<unsigned>(fields.size());
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return header + fields;
}

/// The format of Hugging Face, with one tensor: the length of the fields in 8 bytes, the fields as
/// JSON, padded to a multiple of 8 bytes, and the elements.
/// https://github.com/huggingface/safetensors
std::string safetensors_header(const TableShape& shape, DataType type) {
  const std::int64_t bytes = table_bytes(shape.spec, shape.rows.count, size_of(type));
  constexpr std::string_view types[] = {"F32", "F64", "F16", "BF16"};
  static_assert(std::size(types) == std::size(all_data_types));
  std::string fields = fmt::format(
      R"({{"__metadata__":{{"d_model":"{}","base":"{}","layout":"{}","spacing":"{}",)"
      R"("frequencies":"{}","first":"{}"}},"positional_encoding":{{"dtype":"{}","shape":[{},{}],)"
      R"("data_offsets":[0,{}]}}}})",
      shape.spec.d_model, shape.spec.base, to_string(shape.spec.layout),
      to_string(shape.spec.spacing), to_string(shape.spec.frequencies), shape.rows.first,
      types[static_cast<std::size_t>(type)], shape.rows.count, shape.spec.d_model, bytes);
  fields.resize((fields.size() + 7) / 8 * 8, ' ');
  std::uint64_t length = fields.size();
  to_little_endian(std::span(&length, 1));
  std::string header(sizeof length, '\0');
  std::memcpy(header.data(), &length, sizeof length);
  return header + fields;
}

/// What stands before the elements.
std::string header_of(const std::string& format, const TableShape& shape, DataType type) {
  if (format == "npy") return npy_header(shape, type);
  return format == "safetensors" ? safetensors_header(shape, type) : "";
}

/// The value as a type whose shortest digits read back as the same element.
double printable(double value) { return value; }
template <class T>
float printable(T value) {
  return static_cast<float>(to_double(value));
}

/// One row as a line of csv: the shortest digits that read back as the same element, or a fixed
/// number of decimals.
template <class T>
void append_csv(fmt::memory_buffer& text, std::span<const T> row, std::optional<int> digits) {
  const double least_shown = digits ? 0.5 * std::pow(10.0, -*digits) : 0;
  for (const T element : row) {
    const auto value = printable(element);
    if (!digits) {
      fmt::format_to(std::back_inserter(text), "{},", value);
    } else {
      const double shown =
          std::abs(value) < least_shown ? 0.0 : static_cast<double>(value);  // no -0.0000
      fmt::format_to(std::back_inserter(text), "{:.{}f},", shown, *digits);
    }
  }
  text.data()[text.size() - 1] = '\n';
}

/// A lower bound of the file's size. It is low for csv, whose numbers differ in length.
std::int64_t least_bytes(const TableShape& shape, DataType type, const std::string& format,
                         std::optional<int> digits) {
  const std::int64_t csv_bytes = digits && *digits > 0 ? *digits + 3 : 2;
  return table_bytes(shape.spec, shape.rows.count, format == "csv" ? csv_bytes : size_of(type));
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

/// Writes the first rows of a block, whose memory is used up: all formats but csv hold its bytes in
/// little-endian order.
template <class T>
void write_block(Output& output, BasicMatrix<T>& block, std::int64_t rows,
                 const std::string& format, std::optional<int> digits) {
  if (format != "csv") {
    const std::span elements(block.data(), static_cast<std::size_t>(rows * block.columns()));
    to_little_endian(elements);
    output.write(elements.data(), elements.size_bytes());
    return;
  }
  fmt::memory_buffer text;
  for (std::int64_t row = 0; row < rows; ++row) append_csv<T>(text, block.row(row), digits);
  output.write({text.data(), text.size()});
}

template <class T>
void write_table(Output& output, const Encoder& encoder, const TableShape& shape,
                 const std::string& format, const GenerateOptions& options, Progress& progress) {
  const std::int64_t row_bytes = table_bytes(shape.spec, 1, sizeof(T));
  const std::int64_t block_rows =
      std::min(std::max<std::int64_t>(block_bytes / row_bytes, 1), shape.rows.count);
  BasicMatrix<T> block(block_rows, shape.spec.d_model);
  for (std::int64_t done = 0; done < shape.rows.count; done += block_rows) {
    const RowRange rows = {shape.rows.first + done, std::min(block_rows, shape.rows.count - done)};
    encoder.encode(rows, block.view(), options.common.threads.value_or(1));
    write_block(output, block, rows.count, format, options.digits);
    progress(static_cast<double>(done + rows.count) / static_cast<double>(shape.rows.count),
             "writing");
  }
}

int generate(const GenerateOptions& options) {
  const TableShape shape = shape_of(options.common);
  const std::string format = format_of(options.common);
  const std::string& file = options.common.output;
  if (options.digits && format != "csv") {
    throw InvalidArgument(fmt::format(
        "--digits is {}; allowed with --format csv only, here it is {}", *options.digits, format));
  }
  check_terminal(options.common, shape, format);
  const DataType type = options.common.type;
  if (format == "npy" && type == DataType::bfloat16) {
    throw InvalidArgument(
        "--dtype is bfloat16; allowed in npy: float32, float64, float16 (give --format "
        "safetensors)");
  }
  const auto encoder = encoder_of(options, shape);
  encoder->backend().check_supports(type);
  if (!is_standard_output(file))
    check_space(file, least_bytes(shape, type, format, options.digits));

  Progress progress(!is_standard_output(file));  // on a terminal it would mix with the rows
  Output output(file);
  output.write(header_of(format, shape, type));
  with_type(type, [&]<class T>(T) {
    write_table<T>(output, *encoder, shape, format, options, progress);
  });
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
  add_like_option(command, options->like);
  exclude(command, "--like", {"--backend", "--isa", "--max-error", "--max-ulp"});
  add_type_option(command, options->common);
  add_threads_option(command, options->common, "1");
  add_format_option(command, options->common, {"npy", "safetensors", "raw", "csv"},
                    "npy; csv on standard output");
  add_integer_option(
      command, options->digits, "--digits", 0, most_digits,
      "decimals in csv (default: as many as it takes to read the values back exactly)");
  add_output_option(command, options->common);
  describe(command, {{"posenc generate --rows 3 --d-model 4", "the paper's first values, as csv"},
                     {"posenc generate --preset whisper --output whisper.npy",
                      "a model's table, for numpy.load"},
                     {"posenc generate --preset llama_3_1 --like transformers --output cache.npy",
                      "phases of float32, as Transformers computes them"},
                     {"posenc generate --dtype bfloat16 --rows 5000 --output table.safetensors",
                      "the tensor positional_encoding, for safetensors.torch.load_file"}});
}

}  // namespace posenc::cli
