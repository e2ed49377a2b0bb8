#include "posenc/spec.h"

#include "posenc/support/format.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace posenc {
namespace {

constexpr std::array layout_names =
    std::to_array<std::string_view>({"interleaved", "halves", "halves_cos_first"});
constexpr std::array spacing_names = std::to_array<std::string_view>({"paper", "inclusive"});

template <class Enum>
Enum parse(std::string_view argument, std::string_view name,
           std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw InvalidArgument(format_text("{} is '{}'; allowed: {}", argument, name, join(names, ", ")));
}

}  // namespace

void validate(const EncodingSpec& spec) {
  if (spec.d_model < 2 || spec.d_model > max_d_model || spec.d_model % 2 != 0) {
    throw InvalidArgument(
        format_text("d_model is {}; allowed: even, 2 to {}", spec.d_model, max_d_model));
  }
  if (!std::isfinite(spec.base) || !(spec.base > 1)) {
    throw InvalidArgument(format_text("base is {}; allowed: finite and greater than 1", spec.base));
  }
  const auto known = [](auto value, std::size_t count) {
    return static_cast<std::size_t>(value) < count;
  };
  if (!known(spec.layout, layout_names.size())) {
    throw InvalidArgument(format_text("layout is {}; allowed: 0 to {}",
                                      static_cast<int>(spec.layout), layout_names.size() - 1));
  }
  if (!known(spec.spacing, spacing_names.size())) {
    throw InvalidArgument(format_text("spacing is {}; allowed: 0 to {}",
                                      static_cast<int>(spec.spacing), spacing_names.size() - 1));
  }
}

void validate(RowRange rows) {
  if (rows.first < 0 || rows.first > max_position) {
    throw InvalidArgument(
        format_text("first position is {}; allowed: 0 to {}", rows.first, max_position));
  }
  if (rows.count < 0 || rows.count > max_position - rows.first + 1) {
    throw InvalidArgument(format_text("row count is {}; allowed from position {}: 0 to {}",
                                      rows.count, rows.first, max_position - rows.first + 1));
  }
}

std::int64_t table_bytes(const EncodingSpec& spec, std::int64_t count, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(spec.d_model, element_bytes, &bytes) ||
      __builtin_mul_overflow(bytes, count, &bytes)) {
    throw InvalidArgument(
        format_text("row count is {}; at d_model {} a table may have at most {} rows", count,
                    spec.d_model, INT64_MAX / element_bytes / spec.d_model));
  }
  return bytes;
}

std::string_view to_string(Layout layout) noexcept {
  return layout_names[static_cast<std::size_t>(layout)];
}
std::string_view to_string(Spacing spacing) noexcept {
  return spacing_names[static_cast<std::size_t>(spacing)];
}
Layout parse_layout(std::string_view name) { return parse<Layout>("layout", name, layout_names); }
Spacing parse_spacing(std::string_view name) {
  return parse<Spacing>("spacing", name, spacing_names);
}

}  // namespace posenc
