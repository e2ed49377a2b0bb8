#include "cli/positions_file.h"

#include "posenc/support/input_file.h"
#include "posenc/support/little_endian.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace posenc::cli {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& what,
                         std::string_view allowed) {
  throw InvalidArgument(fmt::format("{} {}; allowed: {}", file, what, allowed));
}

/// What follows a key of the header, a dictionary as Python prints it; empty if there is none.
std::string_view after(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t value = header.find_first_not_of(": ", at + key.size());
  return value == std::string_view::npos ? std::string_view() : header.substr(value);
}

/// The numbers of "(3, 40)", or none if it is anything else.
std::vector<std::int64_t> parse_shape(std::string_view text) {
  std::vector<std::int64_t> sizes;
  if (text.empty() || text.front() != '(') return {};
  text.remove_prefix(1);
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return {};
    if (text.front() == ')') return sizes;
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0) return {};
    sizes.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

template <class T>
std::vector<std::int64_t> elements_of(std::string_view bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  to_little_endian(std::span(elements));
  return {elements.begin(), elements.end()};
}

}  // namespace

FilePositions read_positions(const std::string& file) {
  const std::string content = read_file(file);
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr std::size_t version_1 = 10, version_2 = 12;  // bytes before the header
  const bool is_long = content.size() > 6 && content[6] > 1;
  const std::size_t before = is_long ? version_2 : version_1;
  if (!content.starts_with(magic) || content.size() < before)
    refuse(file, "is no .npy file", "positions as numpy.save() writes them");
  std::size_t length = 0;
  for (std::size_t i = before; i-- > 8;)
    length = length << 8 | static_cast<unsigned char>(content[i]);
  if (length > content.size() - before) refuse(file, "ends in its header", "a whole file");
  const std::string_view header = std::string_view(content).substr(before, length);
  const std::string_view bytes = std::string_view(content).substr(before + length);

  const std::string_view type = after(header, "'descr'").substr(0, 5);
  const bool is_wide = type == "'<i8'";
  if (!is_wide && type != "'<i4'")
    refuse(file, fmt::format("has the type {}", type), "int32 or int64, little-endian");
  const std::vector<std::int64_t> shape = parse_shape(after(header, "'shape'"));
  const bool is_rows_first = after(header, "'fortran_order'").starts_with("False");
  if (shape.empty() || shape.size() > 2 || !is_rows_first)
    refuse(file, "has another shape or order", "(rows) or (axes, rows), in C order");
  std::int64_t count = 1, size = 0;
  for (const std::int64_t each : shape) {
    if (__builtin_mul_overflow(count, each, &count)) refuse(file, "is too large", "64 bits");
  }
  if (__builtin_mul_overflow(count, is_wide ? 8 : 4, &size) ||
      size != static_cast<std::int64_t>(bytes.size()))
    refuse(file, fmt::format("has {} bytes of elements", bytes.size()), "those of its shape");
  return {is_wide ? elements_of<std::int64_t>(bytes) : elements_of<std::int32_t>(bytes),
          shape.size() == 2 ? shape[0] : 0, shape.back()};
}

}  // namespace posenc::cli
