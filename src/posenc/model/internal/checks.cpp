#include "posenc/model/internal/checks.h"

#include <algorithm>
#include <array>
#include <string>

namespace posenc {
namespace {

std::uintptr_t address_of(const Strided& view) noexcept {
  return reinterpret_cast<std::uintptr_t>(view.data);
}

struct Dimension {
  std::int64_t stride, size;
  std::string_view stride_name, units;
};

std::array<Dimension, 3> dimensions_of(const Strided& view) noexcept {
  const HeadsShape& shape = view.shape;
  return {{{shape.batch_stride, shape.batch, "batch_stride", "sequences"},
           {shape.head_stride, shape.heads, "head_stride", "heads"},
           {shape.row_stride, shape.rows, "row_stride", "rows"}}};
}

/// Bytes from the first element to the last; 0 if two runs overlap, or if a difference of pointers
/// cannot hold them.
std::int64_t span_in_bytes(const Strided& view) noexcept {
  std::array<Dimension, 3> dimensions = dimensions_of(view);
  std::ranges::sort(dimensions, {}, &Dimension::stride);
  std::int64_t elements = view.shape.columns, beyond_first = 0, bytes = 0;
  for (const auto& [stride, size, stride_name, units] : dimensions) {
    if (size == 1) continue;
    const bool is_apart = stride >= elements &&
                          !__builtin_mul_overflow(size - 1, stride, &beyond_first) &&
                          !__builtin_add_overflow(elements, beyond_first, &elements);
    if (!is_apart) return 0;
  }
  return __builtin_mul_overflow(elements, view.element_bytes, &bytes) ? 0 : bytes;
}

/// True if the runs of one view are between those of the other: all strides are multiples of the
/// smallest one, in which each view has its columns.
bool alternate(const Strided& view, const Strided& other) noexcept {
  std::int64_t period = INT64_MAX;
  const auto each_stride = [&](const auto& use) {
    for (const Strided* const of : {&view, &other}) {
      for (const Dimension& each : dimensions_of(*of)) {
        if (each.size > 1) use(each.stride * of->element_bytes);
      }
    }
  };
  each_stride([&](std::int64_t stride) { period = std::min(period, stride); });
  bool are_multiples = period != INT64_MAX;
  each_stride([&](std::int64_t stride) { are_multiples &= stride % period == 0; });
  if (!are_multiples) return false;
  const bool is_later = view.data >= other.data;
  const Strided &first = is_later ? other : view, &second = is_later ? view : other;
  const auto shift = static_cast<std::int64_t>((address_of(second) - address_of(first)) %
                                               static_cast<std::uintptr_t>(period));
  return shift >= first.shape.columns * first.element_bytes &&
         period - shift >= second.shape.columns * second.element_bytes;
}

bool are_same(const Strided& view, const Strided& other) noexcept {
  return view.data == other.data &&
         std::ranges::equal(dimensions_of(view), dimensions_of(other),
                            [](const auto& a, const auto& b) {
                              return a.size == b.size && (a.size == 1 || a.stride == b.stride);
                            });
}

}  // namespace

Strided strided(std::string_view name, const IntegerView& view) {
  return {name, view.data(), view.bytes(), {.columns = view.count()}};
}

std::int64_t check_memory(const Strided& view) {
  const std::string_view name = view.name;
  const std::int64_t columns = view.shape.columns;
  bool is_empty = false;
  const auto check_size = [&](std::int64_t size, std::string_view units) {
    if (size < 0) throw_invalid("{} has {} {}; allowed: 0 or more", name, size, units);
    is_empty |= size == 0;
  };
  for (const Dimension& each : dimensions_of(view)) check_size(each.size, each.units);
  check_size(columns, "columns");
  if (is_empty) return 0;
  const std::int64_t bytes = span_in_bytes(view);
  if (bytes == 0) {
    std::string strides;
    for (const auto& [stride, size, stride_name, units] : dimensions_of(view)) {
      if (size == 1) continue;
      strides += format_text("{}{} {} of {} {}", strides.empty() ? "" : ", ", stride_name, stride,
                             size, units);
    }
    throw_invalid(
        "{} has {}; allowed: strides that keep {} columns apart, in at most 2^63 - 1 bytes", name,
        strides, columns);
  }
  if (view.data == nullptr)
    throw_invalid("{} has no memory (data is null); allowed: a valid pointer", name);
  return bytes;
}

void check_apart(const Strided& view, const Strided& other, bool or_same) {
  const std::int64_t bytes = check_memory(view), other_bytes = check_memory(other);
  if (bytes == 0 || other_bytes == 0 || (or_same && are_same(view, other))) return;
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
  if (value == allowed) return;
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

}  // namespace posenc
