// Checks of the views that layers take. Each check throws InvalidArgument, which names the
// argument, its value and the allowed values. Internal: not installed.
#pragma once

#include "posenc/model/sequence_view.h"
#include "posenc/support/check.h"

#include <cstdint>
#include <string_view>

namespace posenc::model {
inline namespace internals {

/// A view as the checks see it: runs of shape.columns elements.
struct Strided {
  std::string_view name;
  const void* data;
  std::int64_t element_bytes;
  model::HeadsShape shape;
};
template <class Data>
Strided strided(std::string_view name, const AnyView<Data>& view) {
  if (view.stride < view.columns)
    throw_invalid("{} has stride {}; allowed: at least its columns, {}", name, view.stride,
                  view.columns);
  return {name,
          view.data,
          size_of(view.type),
          {.rows = view.rows, .columns = view.columns, .row_stride = view.stride}};
}
/// The runs of AnySequences or of a HeadsView.
template <class View>
Strided strided(std::string_view name, const View& view) {
  return {name, view.data, size_of(view.type), view};
}

/// Sizes must not be negative, strides must keep runs apart, and the data must not be null. A
/// dimension of size 1 may have any stride, except in a matrix. Returns the bytes from the first
/// element to the last, or 0 if there are none.
std::int64_t check_memory(const Strided& view);
template <class View>
void check_memory(std::string_view name, const View& view) {
  check_memory(strided(name, view));
}

/// Checks that the memory of both views is allowed and that they share no element. The views may
/// alternate, like the halves of wider rows. If `or_same`, they may also be the same memory with
/// the same strides.
void check_apart(const Strided& view, const Strided& other, bool or_same = false);

/// "`name` has `value` `units`; allowed: `what`, `allowed`".
void check_equal(std::string_view name, std::string_view units, std::int64_t value,
                 std::string_view what, std::int64_t allowed);

void check_same_type(std::string_view name, DataType type, std::string_view other,
                     DataType allowed);

/// Checks that two views have the same numbers of sequences and rows.
template <class View>
void check_same_rows(std::string_view name, const View& view, std::string_view other_name,
                     const View& other) {
  if (view.batch != other.batch || view.rows != other.rows)
    throw_invalid("{} has {} sequences of {} rows; allowed: as many as {}, {} of {}", name,
                  view.batch, view.rows, other_name, other.batch, other.rows);
}

/// Layers compute with any type but float64.
void check_not_double(std::string_view name, DataType type);

}  // namespace internals
}  // namespace posenc::model
