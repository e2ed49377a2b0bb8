#include "cli/table_file.h"

#include "posenc/spec.h"
#include "posenc/support/little_endian.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

namespace posenc::cli {
namespace {

/// Size of the blocks in which a table is encoded and written.
constexpr std::int64_t block_bytes = std::int64_t{4} << 20;

std::int64_t bytes_of(std::int64_t columns, std::int64_t rows, std::int64_t element_bytes) {
  return table_bytes({.d_model = columns}, rows, element_bytes);
}

/// NumPy's format, version 1.0:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_header(const TableFile& file) {
  std::string fields =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                  size_of(file.type), file.positions.count(), file.columns());
  constexpr std::size_t fixed = 10;  // magic, version, and length of the fields
  constexpr std::size_t alignment = 64;
  const std::size_t padding = alignment - (fixed + fields.size() + 1) % alignment;
  fields += std::string(padding, ' ') + '\n';
  const auto length = static_cast<unsigned>(fields.size());
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return header + fields;
}

/// The format of Hugging Face: the length of the fields in 8 bytes, the fields as JSON, padded to a
/// multiple of 8 bytes, and the elements.
/// https://github.com/huggingface/safetensors
std::string safetensors_header(const TableFile& file) {
  constexpr std::string_view types[] = {"F32", "F64", "F16", "BF16"};
  static_assert(std::size(types) == std::size(all_data_types));
  nlohmann::ordered_json header;
  for (const auto& [name, value] : file.metadata) header["__metadata__"][name] = value;
  std::int64_t begin = 0;
  for (const Tensor& each : file.tensors) {
    const std::int64_t end =
        begin + bytes_of(each.columns, file.positions.count(), size_of(file.type));
    header[each.name] = {{"dtype", types[static_cast<std::size_t>(file.type)]},
                         {"shape", {file.positions.count(), each.columns}},
                         {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string fields = header.dump();
  fields.resize((fields.size() + 7) / 8 * 8, ' ');
  std::uint64_t length = fields.size();
  to_little_endian(std::span(&length, 1));
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + fields;
}

/// What stands before the elements.
std::string header_of(const TableFile& file) {
  if (file.format == "npy") return npy_header(file);
  return file.format == "safetensors" ? safetensors_header(file) : "";
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

/// Writes the first rows of a block, whose memory is used up: all formats but csv hold its bytes in
/// little-endian order.
template <class T>
void write_block(Output& output, BasicMatrix<T>& block, std::int64_t rows, const TableFile& file) {
  if (file.format != "csv") {
    const std::span elements(block.data(), static_cast<std::size_t>(rows * block.columns()));
    to_little_endian(elements);
    output.write(elements.data(), elements.size_bytes());
    return;
  }
  fmt::memory_buffer text;
  for (std::int64_t row = 0; row < rows; ++row) append_csv<T>(text, block.row(row), file.digits);
  output.write({text.data(), text.size()});
}

/// Calls written(rows) after each block.
template <class T, class Written>
void write_tensor(Output& output, const Tensor& tensor, const TableFile& file,
                  const Written& written) {
  const std::int64_t all = file.positions.count();
  const std::int64_t row_bytes = bytes_of(tensor.columns, 1, sizeof(T));
  const std::int64_t block_rows = std::min(std::max<std::int64_t>(block_bytes / row_bytes, 1), all);
  BasicMatrix<T> block(block_rows, tensor.columns);
  for (std::int64_t done = 0; done < all; done += block_rows) {
    const std::int64_t rows = std::min(block_rows, all - done);
    tensor.encode(file.positions.part(done, rows), block.view());
    write_block(output, block, rows, file);
    written(rows);
  }
}

}  // namespace

std::int64_t TableFile::columns() const noexcept {
  std::int64_t sum = 0;
  for (const Tensor& each : tensors) sum += each.columns;
  return sum;
}

std::int64_t least_bytes(const TableFile& file) {
  const std::int64_t csv_bytes = file.digits && *file.digits > 0 ? *file.digits + 3 : 2;
  return bytes_of(file.columns(), file.positions.count(),
                  file.format == "csv" ? csv_bytes : size_of(file.type));
}

void write_table(Output& output, const TableFile& file, Progress& progress) {
  output.write(header_of(file));
  const auto all =
      static_cast<double>(file.positions.count() * static_cast<std::int64_t>(file.tensors.size()));
  std::int64_t done = 0;
  with_type(file.type, [&]<class T>(T) {
    for (const Tensor& each : file.tensors) {
      write_tensor<T>(output, each, file, [&](std::int64_t rows) {
        done += rows;
        progress(static_cast<double>(done) / all, "writing");
      });
    }
  });
}

}  // namespace posenc::cli
