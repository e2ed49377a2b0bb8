/// @file
/// Rows at consecutive positions, one at a time:
///
///     posenc::Cursor cursor(*encoder, 100);
///     std::span<const float> row_100 = cursor.next(), row_101 = cursor.next();
#pragma once

#include "posenc/encoder.h"
#include "posenc/spec.h"

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace posenc {

/// Encodes several rows ahead, so that a row costs little more than in a table. The rows have the
/// same bits as in a table. Two threads must not use the same cursor at once. T is an element type
/// of tables (see data_type.h).
template <class T>
class BasicCursor {
 public:
  /// Keeps a reference to the encoder, which must outlive the cursor. Throws InvalidArgument if
  /// `first` is not within -max_position to max_position, or if the encoder does not support the
  /// type.
  explicit BasicCursor(const Encoder& encoder, std::int64_t first = 0);
  /// Owns the encoder: Cursor(backend("rotation").plan(spec)). Throws as above.
  explicit BasicCursor(std::unique_ptr<const Encoder> encoder, std::int64_t first = 0);
  /// Positions are integers, so that a fraction is not lost silently.
  template <class First>
  requires std::is_floating_point_v<First> BasicCursor(const Encoder& encoder, First first)
  = delete;

  /// The position of the row that next() returns.
  std::int64_t position() const noexcept { return position_; }

  /// Moves to any position. Throws InvalidArgument if `position` is not within -max_position to
  /// max_position.
  void seek(std::int64_t position);

  /// Returns the row at position(), which has d_model values and is valid until the next call, and
  /// advances by one position. Throws InvalidArgument if position() exceeds max_position.
  std::span<const T> next();

  /// Writes the row at position() to the caller's memory and advances by one position. Throws
  /// InvalidArgument if position() exceeds max_position or if `row` does not have d_model elements.
  /// If `row` has another size, nothing is written and the cursor does not advance.
  void next(std::span<T> row);

 private:
  std::unique_ptr<const Encoder> owned_;  ///< null if the caller owns the encoder
  const Encoder& encoder_;
  std::int64_t position_ = 0;
  RowRange kept_;  ///< positions of the rows in ahead_
  std::vector<T> ahead_;
};

/// A cursor of float32 rows.
using Cursor = BasicCursor<float>;

}  // namespace posenc
