#include "posenc/model/internal/checks.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace posenc::model {
inline namespace internals {
namespace {

std::uintptr_t address_of(const Strided& view) noexcept {
  return reinterpret_cast<std::uintptr_t>(view.data);
}

struct Dimension {
  std::int64_t stride, size;
  std::string_view stride_name, units;

  bool operator==(const Dimension&) const = default;
};

/// The dimensions of the view. A dimension of size 1 gets stride 0.
std::array<Dimension, 3> dimensions_of(const Strided& view) noexcept {
  const model::HeadsShape& shape = view.shape;
  std::array<Dimension, 3> all = {{{shape.batch_stride, shape.batch, "batch_stride", "sequences"},
                                   {shape.head_stride, shape.heads, "head_stride", "heads"},
                                   {shape.row_stride, shape.rows, "row_stride", "rows"}}};
  for (Dimension& each : all) each.stride = each.size == 1 ? 0 : each.stride;
  return all;
}

/// Bytes from the first element to the last. The result is 0 if two runs overlap, or if a
/// difference of pointers cannot hold the bytes.
std::int64_t span_in_bytes(const Strided& view) noexcept {
  std::array<Dimension, 3> dimensions = dimensions_of(view);
  std::ranges::sort(dimensions, {}, &Dimension::stride);
  std::int64_t elements = view.shape.columns, beyond_first = 0, bytes = 0;
  for (const Dimension& each : dimensions) {
    const bool is_apart = each.size == 1 || each.stride >= elements;
    if (!is_apart || __builtin_mul_overflow(each.size - 1, each.stride, &beyond_first) ||
        __builtin_add_overflow(elements, beyond_first, &elements))
      return 0;
  }
  return __builtin_mul_overflow(elements, view.element_bytes, &bytes) ? 0 : bytes;
}

/// True if the runs of one view lie between the runs of the other, in a period that divides all
/// strides.
bool alternate(const Strided& view, const Strided& other) noexcept {
  std::int64_t period = 0;
  for (const Strided* const of : {&view, &other}) {
    for (const Dimension& each : dimensions_of(*of))
      period = std::gcd(period, each.stride * of->element_bytes);
  }
  if (period == 0) return false;
  const auto distance = static_cast<std::int64_t>(address_of(view) - address_of(other));
  const std::int64_t shift = (distance % period + period) % period;
  return shift >= other.shape.columns * other.element_bytes &&
         period - shift >= view.shape.columns * view.element_bytes;
}

}  // namespace

std::int64_t check_memory(const Strided& view) {
  const auto& [name, data, element_bytes, shape] = view;
  for (const auto& [size, units] : {std::pair(shape.batch, "sequences"),
                                    {shape.heads, "heads"},
                                    {shape.rows, "rows"},
                                    {shape.columns, "columns"}})
    if (size < 0) throw_invalid("{} has {} {}; allowed: 0 or more", name, size, units);
  if (shape.batch == 0 || shape.heads == 0 || shape.rows == 0 || shape.columns == 0) return 0;
  const std::int64_t bytes = span_in_bytes(view);
  if (bytes == 0) {
    std::vector<std::string> strides;
    for (const Dimension& each : dimensions_of(view)) {
      if (each.size != 1)
        strides.push_back(
            format_text("{} {} of {} {}", each.stride_name, each.stride, each.size, each.units));
    }
    throw_invalid(
        "{} has {}; allowed: strides that keep {} columns apart, in at most 2^63 - 1 bytes", name,
        join(strides, ", "), shape.columns);
  }
  if (data == nullptr)
    throw_invalid("{} has no memory (data is null); allowed: a valid pointer", name);
  return bytes;
}

void check_apart(const Strided& view, const Strided& other, bool or_same) {
  const std::int64_t bytes = check_memory(view), other_bytes = check_memory(other);
  const bool are_same = view.data == other.data && dimensions_of(view) == dimensions_of(other);
  if (bytes == 0 || other_bytes == 0 || (or_same && are_same)) return;
  const std::uintptr_t begin = address_of(view), other_begin = address_of(other);
  const bool overlap = begin < other_begin + static_cast<std::uintptr_t>(other_bytes) &&
                       other_begin < begin + static_cast<std::uintptr_t>(bytes);
  if (!overlap || alternate(view, other)) return;
  throw_invalid("{} overlaps {}, {} bytes {} it; allowed: {}memory apart from it", view.name,
                other.name, std::max(begin, other_begin) - std::min(begin, other_begin),
                begin < other_begin ? "before" : "after",
                or_same ? "the same memory and strides, or " : "");
}

void check_equal(std::string_view name, std::string_view units, std::int64_t value,
                 std::string_view what, std::int64_t allowed) {
  if (value != allowed)
    throw_invalid("{} has {} {}; allowed: {}, {}", name, value, units, what, allowed);
}

void check_same_type(std::string_view name, DataType type, std::string_view other,
                     DataType allowed) {
  if (type == allowed) return;
  throw_invalid("{}.type is {}; allowed: that of {}, {}", name, to_string(type), other,
                to_string(allowed));
}

void check_not_double(std::string_view name, DataType type) {
  if (type != DataType::float64) return;
  throw_invalid("{}.type is float64; allowed: float32, float16, bfloat16", name);
}

}  // namespace internals
}  // namespace posenc::model
