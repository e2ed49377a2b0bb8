#include "posenc/model/internal/checks.h"

#include "posenc/spec.h"
#include "posenc/support/format.h"

#include <algorithm>

namespace posenc {
namespace {

void check_size(std::string_view name, std::string_view dimension, std::int64_t size) {
  if (size < 0)
    throw InvalidArgument(format_text("{} has {} {}; allowed: 0 or more", name, size, dimension));
}

void check_columns(std::string_view name, std::int64_t have, std::int64_t columns) {
  if (have != columns) {
    throw InvalidArgument(
        format_text("{} has {} columns; allowed: d_model, {}", name, have, columns));
  }
}

struct Dimension {
  std::int64_t size;
  std::int64_t stride;
};

/// Bytes from the first element to the last of two nested dimensions of rows.
std::uintptr_t span_in_bytes(std::string_view name, Dimension a, Dimension b, std::int64_t columns,
                             std::int64_t element_bytes) {
  std::int64_t of_a = 0, of_b = 0, elements = 0, bytes = 0;
  if (__builtin_mul_overflow(a.size - 1, a.stride, &of_a) ||
      __builtin_mul_overflow(b.size - 1, b.stride, &of_b) ||
      __builtin_add_overflow(of_a, of_b, &elements) ||
      __builtin_add_overflow(elements, columns, &elements) ||
      __builtin_mul_overflow(elements, element_bytes, &bytes)) {
    throw InvalidArgument(
        format_text("{} spans {} x {} rows of strides {} and {}; allowed: at most 2^63 - 1 bytes",
                    name, a.size, b.size, a.stride, b.stride));
  }
  return static_cast<std::uintptr_t>(bytes);
}

Memory memory_at(std::string_view name, const void* data, std::uintptr_t bytes) {
  if (data == nullptr) {
    throw InvalidArgument(
        format_text("{} has no memory (data is null); allowed: a valid pointer", name));
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, begin + bytes};
}

bool overlap(Memory a, Memory b) noexcept {
  return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

/// Sets the strides of dimensions of size 1, which are never used, to 0, so that views can be
/// compared.
AnySequences without_unused_strides(AnySequences view) noexcept {
  if (view.batch == 1) view.batch_stride = 0;
  if (view.rows == 1) view.row_stride = 0;
  return view;
}

/// True if rows that begin `distance` bytes apart alternate without overlap.
bool alternate(std::uintptr_t stride, std::uintptr_t row, std::uintptr_t distance) noexcept {
  const std::uintptr_t shift = distance % stride;
  return shift >= row && stride - shift >= row;
}

/// True if the rows of two views with the same strides alternate without overlap, as the two halves
/// of wider rows do.
bool rows_apart(const AnySequences& x, std::uintptr_t distance) noexcept {
  const std::int64_t larger = std::max(x.batch_stride, x.row_stride);
  const std::int64_t other = std::min(x.batch_stride, x.row_stride);
  const std::int64_t smaller = other == 0 ? larger : other;
  if (smaller == 0 || larger % smaller != 0) return false;
  return alternate(static_cast<std::uintptr_t>(smaller * x.element_bytes()),
                   static_cast<std::uintptr_t>(x.columns * x.element_bytes()), distance);
}

std::uintptr_t distance_between(const void* a, const void* b) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(a),
             second = reinterpret_cast<std::uintptr_t>(b);
  return std::max(first, second) - std::min(first, second);
}

/// Bytes from the first element of the heads to the last; 0 if two heads overlap, or if a
/// difference of pointers cannot hold them.
std::int64_t span_of_heads(const HeadsView& view) noexcept {
  Dimension all[] = {{view.batch, view.batch_stride},
                     {view.heads, view.head_stride},
                     {view.rows, view.row_stride}};
  std::ranges::sort(all, {}, &Dimension::stride);
  std::int64_t elements = view.columns, beyond_first = 0, bytes = 0;
  for (const auto [size, stride] : all) {
    if (size == 1) continue;
    const bool is_apart = stride >= elements &&
                          !__builtin_mul_overflow(size - 1, stride, &beyond_first) &&
                          !__builtin_add_overflow(elements, beyond_first, &elements);
    if (!is_apart) return 0;
  }
  return __builtin_mul_overflow(elements, size_of(view.type), &bytes) ? 0 : bytes;
}

}  // namespace

Memory check_sequences(std::string_view name, const AnySequences& view, std::int64_t columns) {
  check_size(name, "sequences", view.batch);
  check_size(name, "rows", view.rows);
  check_columns(name, view.columns, columns);
  if (view.batch == 0 || view.rows == 0) return {};
  const Dimension batch = {view.batch, view.batch > 1 ? view.batch_stride : columns};
  const Dimension rows = {view.rows, view.rows > 1 ? view.row_stride : columns};
  const auto apart = [columns](Dimension outer, Dimension inner) {
    return inner.stride >= columns && outer.stride >= columns &&
           (outer.stride - columns) / inner.stride >= inner.size - 1;
  };
  if (!(batch.size == 1 && rows.stride >= columns) &&
      !(rows.size == 1 && batch.stride >= columns) && !apart(batch, rows) && !apart(rows, batch)) {
    throw InvalidArgument(
        format_text("{} has batch_stride {} and row_stride {}; allowed: strides that keep {} x {} "
                    "rows of {} columns "
                    "apart",
                    name, view.batch_stride, view.row_stride, view.batch, view.rows, columns));
  }
  return memory_at(name, view.data,
                   span_in_bytes(name, batch, rows, columns, view.element_bytes()));
}

void check_same_shape(const AnySequences& x, const AnySequences& y) {
  const auto order_name = [](BatchOrder order) {
    return order == BatchOrder::batch_first ? "batch_first" : "sequence_first";
  };
  if (x.type != y.type) {
    throw InvalidArgument(format_text("output.type is {}; allowed: that of the input, {}",
                                      to_string(y.type), to_string(x.type)));
  }
  if (x.order != y.order) {
    throw InvalidArgument(format_text("output is {}; allowed: the order of the input, {}",
                                      order_name(y.order), order_name(x.order)));
  }
  if (x.batch != y.batch || x.rows != y.rows) {
    throw InvalidArgument(
        format_text("output has {} sequences of {} rows; allowed: as many as the input, {} of {}",
                    y.batch, y.rows, x.batch, x.rows));
  }
}

void check_overlap(const AnySequences& x, const AnySequences& y) {
  if (x.batch == 0 || x.rows == 0) return;
  if (!overlap(check_sequences("input", x, x.columns), check_sequences("output", y, y.columns)))
    return;
  const auto in = without_unused_strides(x), out = without_unused_strides(y);
  const bool same_strides = in.batch_stride == out.batch_stride && in.row_stride == out.row_stride;
  if (same_strides && x.data == y.data) return;
  const std::uintptr_t distance = distance_between(x.data, y.data);
  if (same_strides && rows_apart(in, distance)) return;
  throw InvalidArgument(format_text(
      "output overlaps the input, {} bytes {} it{}; allowed: the same memory and "
      "strides, or memory apart",
      distance, y.data < x.data ? "before" : "after", same_strides ? "" : ", with other strides"));
}

Memory check_matrix(std::string_view name, const InputView& view) {
  check_size(name, "rows", view.rows);
  check_size(name, "columns", view.columns);
  if (view.stride < view.columns) {
    throw InvalidArgument(format_text("{} has stride {}; allowed: at least its columns, {}", name,
                                      view.stride, view.columns));
  }
  if (view.rows == 0 || view.columns == 0) return {};
  return memory_at(
      name, view.data,
      span_in_bytes(name, {view.rows, view.stride}, {1, 0}, view.columns, size_of(view.type)));
}

void check_apart(std::string_view name, const InputView& view, std::string_view other_name,
                 const InputView& other) {
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::uintptr_t>(elements * size_of(view.type));
  };
  const bool may_alternate = view.type == other.type && view.stride == other.stride &&
                             view.stride > 0 && view.columns == other.columns;
  if (may_alternate &&
      alternate(bytes(view.stride), bytes(view.columns), distance_between(view.data, other.data))) {
    return;
  }
  check_disjoint(name, check_matrix(name, view), other_name, check_matrix(other_name, other));
}

void check_heads(std::string_view name, const HeadsView& view, std::int64_t columns) {
  check_size(name, "sequences", view.batch);
  check_size(name, "heads", view.heads);
  check_size(name, "rows", view.rows);
  if (view.type == DataType::float64) {
    throw InvalidArgument(
        format_text("{}.type is float64; allowed: float32, float16, bfloat16", name));
  }
  if (view.columns < columns) {
    throw InvalidArgument(format_text("{} has {} columns; allowed: at least the dimension, {}",
                                      name, view.columns, columns));
  }
  if (view.batch == 0 || view.heads == 0 || view.rows == 0) return;
  const std::int64_t bytes = span_of_heads(view);
  if (bytes == 0) {
    throw InvalidArgument(format_text(
        "{} has batch_stride {}, head_stride {} and row_stride {}; allowed: strides that keep {} x "
        "{} x {} heads of {} columns apart, in at most 2^63 - 1 bytes",
        name, view.batch_stride, view.head_stride, view.row_stride, view.batch, view.heads,
        view.rows, view.columns));
  }
  memory_at(name, view.data, static_cast<std::uintptr_t>(bytes));
}

void check_disjoint(std::string_view name, Memory memory, std::string_view other_name,
                    Memory other) {
  if (overlap(memory, other)) {
    throw InvalidArgument(
        format_text("{} overlaps {}; allowed: memory apart from it", name, other_name));
  }
}

}  // namespace posenc
