#include "cli/positions_file.h"

#include "posenc/suite/checking/table_file.h"
#include "posenc/support/input_file.h"
#include "posenc/support/little_endian.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace posenc::cli {

using namespace suite;
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view is, std::string_view allowed) {
  throw InvalidArgument(fmt::format("{} {}; allowed: {}", name, is, allowed));
}

template <class T>
std::vector<std::int64_t> elements_of(std::string_view bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  to_little_endian(std::span(elements));
  return {elements.begin(), elements.end()};
}

}  // namespace

FilePositions read_positions(const std::string& file) try {
  const InputFile input(file);
  const std::string start = input.text(0, std::min(input.bytes(), npy_prefix_bytes));
  if (!is_npy(start))
    refuse("the file", "is no .npy file", "positions as numpy.save() writes them");
  const NpyHeader header =
      parse_npy_header(input.text(0, npy_header_bytes(start, input.bytes())), input.bytes());
  const bool is_wide = header.descr == "<i8";
  if (!is_wide && header.descr != "<i4")
    refuse("descr", fmt::format("is '{}'", header.descr), "<i4 and <i8");
  const std::vector<std::int64_t>& shape = header.shape;
  const bool has_axes = shape.size() == 2;
  if (shape.empty() || shape.size() > 2 || header.is_column_major || (has_axes && shape[0] == 0))
    refuse("the array", "has another shape or order", "(rows), or (axes, rows) in C order");
  std::int64_t size = is_wide ? 8 : 4;
  for (const std::int64_t each : shape) {
    if (__builtin_mul_overflow(size, each, &size)) refuse("the array", "is too large", "64 bits");
  }
  if (size != input.bytes() - header.bytes) {
    refuse("the file", fmt::format("has {} bytes of elements", input.bytes() - header.bytes),
           fmt::format("{}, as its shape says", size));
  }
  const std::string bytes = input.text(header.bytes, size);
  return {is_wide ? elements_of<std::int64_t>(bytes) : elements_of<std::int32_t>(bytes),
          has_axes ? shape[0] : 0, shape.back()};
} catch (const InvalidArgument& error) {
  throw InvalidArgument(fmt::format("{}: {}", file, error.what()));
}

}  // namespace posenc::cli
