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

/// Rows at consecutive positions, one at a time, as decoding needs them: keeps what the next rows
/// share, so that a row costs little more than it does in a table. The same bits as
/// Encoder::encode. Not for use by two threads at once.
class Cursor {
 public:
  /// Keeps a reference to the encoder. Throws InvalidArgument if `first` is not a position.
  explicit Cursor(const Encoder& encoder, std::int64_t first = 0);

  /// The position of the row that next() gives.
  std::int64_t position() const noexcept { return position_; }

  /// Moves to any position. Throws InvalidArgument if it is not one.
  void seek(std::int64_t position);

  /// The row of position(), d_model values, valid until the next call; then moves on by one.
  /// Throws InvalidArgument past max_position.
  std::span<const float> next();

 private:
  const Encoder& encoder_;
  std::int64_t position_ = 0;
  RowRange kept_;  ///< positions of the rows in ahead_
  std::vector<float> ahead_;
};

}  // namespace posenc
