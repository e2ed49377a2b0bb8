#include "cli/table_file.h"

#include "posenc/suite/checking/table_file.h"
#include "posenc/support/files.h"
#include "posenc/support/little_endian.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

namespace posenc::cli {

using namespace suite;
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
  constexpr std::size_t fixed = 10, alignment = 64;  // magic, version, and length of the fields
  fields.append(alignment - 1 - (fixed + fields.size()) % alignment, ' ') += '\n';
  const std::size_t length = fields.size();
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xff) +
         static_cast<char>(length >> 8) + fields;
}

/// The format of Hugging Face: the length of the fields in 8 bytes, the fields as JSON, padded to a
/// multiple of 8 bytes, and the elements.
/// https://github.com/huggingface/safetensors
std::string safetensors_header(const TableFile& file) {
  constexpr const char* types[] = {"F32", "F64", "F16", "BF16"};
  static_assert(std::size(types) == std::size(all_data_types));
  const std::int64_t rows = file.positions.count();
  Json header;
  header["__metadata__"] = file.metadata;
  std::int64_t begin = 0;
  for (const TableFile::Tensor& each : file.tensors) {
    const std::int64_t end = begin + bytes_of(each.columns, rows, size_of(file.type));
    header[each.name] = {{"dtype", types[static_cast<std::size_t>(file.type)]},
                         {"shape", {rows, each.columns}},
                         {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string fields = header.dump();
  fields.resize((fields.size() + 7) / 8 * 8, ' ');
  std::uint64_t length = fields.size();
  to_little_endian(std::span(&length, 1));
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + fields;
}

/// One row as a line of csv: the shortest digits that read back as the same element, or a fixed
/// number of decimals.
template <class T>
void append_csv(fmt::memory_buffer& text, std::span<const T> row, std::optional<int> digits) {
  using Printed = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const double least_shown = digits ? 0.5 * std::pow(10.0, -*digits) : 0;
  for (const T element : row) {
    const auto value = static_cast<Printed>(to_double(element));
    if (digits) {  // no -0.0000
      const double shown = std::abs(value) < least_shown ? 0.0 : double{value};
      fmt::format_to(std::back_inserter(text), "{:.{}f},", shown, *digits);
    } else {
      fmt::format_to(std::back_inserter(text), "{},", value);
    }
  }
  text.data()[text.size() - 1] = '\n';
}

/// Calls written(rows) after each block.
template <class T, class Written>
void write_tensor(Output& output, const TableFile::Tensor& tensor, const TableFile& file,
                  const Written& written) {
  const std::int64_t all = file.positions.count();
  const std::int64_t row_bytes = bytes_of(tensor.columns, 1, sizeof(T));
  const std::int64_t block_rows = std::min(std::max<std::int64_t>(block_bytes / row_bytes, 1), all);
  BasicMatrix<T> block(block_rows, tensor.columns);
  for (std::int64_t done = 0; done < all; done += block_rows) {
    const std::int64_t rows = std::min(block_rows, all - done);
    tensor.encode(file.positions.part(done, rows), block.view(), file.threads);
    if (file.format == "csv") {
      fmt::memory_buffer text;
      for (std::int64_t r = 0; r < rows; ++r) append_csv<T>(text, block.row(r), file.digits);
      output.write({text.data(), text.size()});
    } else {
      const std::span elements(block.data(), static_cast<std::size_t>(rows * tensor.columns));
      to_little_endian(elements);
      output.write(elements.data(), elements.size_bytes());
    }
    written(rows);
  }
}

[[noreturn]] void refuse(std::string_view what, std::string_view allowed) {
  throw InvalidArgument(fmt::format("{}; allowed: {}", what, allowed));
}

template <class T>
std::vector<std::int64_t> elements_of(std::string_view bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  to_little_endian(std::span(elements));
  return {elements.begin(), elements.end()};
}

}  // namespace

std::int64_t TableFile::columns() const noexcept {
  std::int64_t sum = 0;
  for (const Tensor& each : tensors) sum += each.columns;
  return sum;
}

void write_table(Output& output, const TableFile& file, Progress& progress) {
  if (file.format == "npy") output.write(npy_header(file));
  if (file.format == "safetensors") output.write(safetensors_header(file));
  const auto all = static_cast<double>(file.positions.count() * std::ssize(file.tensors));
  std::int64_t done = 0;
  with_type(file.type, [&]<class T>(T) {
    for (const TableFile::Tensor& each : file.tensors) {
      write_tensor<T>(output, each, file, [&](std::int64_t rows) {
        done += rows;
        progress(static_cast<double>(done) / all, "writing");
      });
    }
  });
}

FilePositions read_positions(const std::string& file) try {
  const InputFile input(file);
  const std::string start = input.text(0, std::min(input.bytes(), table_header_bytes));
  if (!is_npy(start)) refuse("the file is no .npy file", "positions as numpy.save() writes them");
  const NpyHeader header = parse_npy_header(start, input.bytes());
  const bool is_wide = header.descr == "<i8";
  if (!is_wide && header.descr != "<i4")
    refuse(fmt::format("descr is '{}'", header.descr), "<i4 and <i8");
  const std::vector<std::int64_t>& shape = header.shape;
  const bool has_axes = shape.size() == 2;
  if (shape.empty() || shape.size() > 2 || header.is_column_major || (has_axes && shape[0] == 0))
    refuse("the array has another shape or order", "(rows), or (axes, rows) in C order");
  std::int64_t size = is_wide ? 8 : 4;
  for (const std::int64_t each : shape) {
    if (__builtin_mul_overflow(size, each, &size)) refuse("the array is too large", "64 bits");
  }
  const std::int64_t present = input.bytes() - header.bytes;
  if (size != present)
    refuse(fmt::format("the file has {} bytes of elements", present),
           fmt::format("{}, as its shape says", size));
  const std::string bytes = input.text(header.bytes, size);
  return {is_wide ? elements_of<std::int64_t>(bytes) : elements_of<std::int32_t>(bytes),
          has_axes ? shape[0] : 0, shape.back()};
} catch (const InvalidArgument& error) {
  throw InvalidArgument(fmt::format("{}: {}", file, error.what()));
}

}  // namespace posenc::cli
