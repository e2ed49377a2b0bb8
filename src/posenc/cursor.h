// Rows at consecutive positions, one at a time:
//
//   posenc::Cursor cursor(*encoder, 100);
//   std::span<const float> row_100 = cursor.next(), row_101 = cursor.next();
#pragma once

#include "posenc/encoder.h"
#include "posenc/export.h"
#include "posenc/spec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace POSENC_API posenc {

/// Rows at consecutive positions, one at a time, as decoding needs them. A cursor encodes several
/// rows ahead, so that a row costs little more than in a table. The bits are those of
/// Encoder::encode. Two threads must not use one cursor at once.
class Cursor {
 public:
  /// Keeps a reference to the encoder, which must outlive the cursor. Throws InvalidArgument if
  /// `first` is not within 0 to max_position.
  explicit Cursor(const Encoder& encoder, std::int64_t first = 0);

  /// The position of the row that next() returns.
  std::int64_t position() const noexcept { return position_; }

  /// Moves to any position. Throws InvalidArgument if `position` is not within 0 to max_position.
  void seek(std::int64_t position);

  /// Returns the row at position(), which has d_model values and is valid until the next call, and
  /// advances by one position. Throws InvalidArgument if position() exceeds max_position.
  std::span<const float> next();

 private:
  const Encoder& encoder_;
  std::int64_t position_ = 0;
  RowRange kept_;  ///< positions of the rows in ahead_
  std::vector<float> ahead_;
};

}  // namespace posenc
