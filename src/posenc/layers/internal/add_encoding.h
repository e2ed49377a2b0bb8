// y = dropout(scale * x + encoding): what all layers of the input side come down to. Internal: not
// installed.
#pragma once

#include "posenc/encoder.h"
#include "posenc/layers/sequence_view.h"
#include "posenc/simd/dispatch.h"
#include "posenc/spec.h"

#include <cstdint>

namespace posenc {

/// Where the input's rows are: in a view, or where token ids point in a matrix.
class InputRows {
 public:
  explicit InputRows(const SequenceView<const float>& x) noexcept
      : data_(x.data), batch_stride_(x.batch_stride), row_stride_(x.row_stride) {}

  /// Ids are dense in the output's order.
  template <class Id>
  InputRows(MatrixView<const float> weights, const Id* ids,
            const SequenceView<const float>& y) noexcept
      : data_(weights.data),
        weight_stride_(weights.stride),
        batch_stride_(y.order == BatchOrder::batch_first ? y.rows : 1),
        row_stride_(y.order == BatchOrder::batch_first ? 1 : y.batch) {
    if constexpr (sizeof(Id) == 4) {
      ids32_ = ids;
    } else {
      ids64_ = ids;
    }
  }

  const float* row(std::int64_t batch, std::int64_t row) const noexcept {
    const std::int64_t place = batch * batch_stride_ + row * row_stride_;
    if (ids32_ != nullptr) return data_ + ids32_[place] * weight_stride_;
    if (ids64_ != nullptr) return data_ + ids64_[place] * weight_stride_;
    return data_ + place;
  }

  /// Elements from a row of a sequence to the next; 0 if ids say if rows are.
  std::int64_t row_stride() const noexcept {
    return ids32_ == nullptr && ids64_ == nullptr ? row_stride_ : 0;
  }

  /// Whether the rows of a sequence follow each other without gaps.
  bool dense(std::int64_t columns) const noexcept {
    return ids32_ == nullptr && ids64_ == nullptr && row_stride_ == columns;
  }

 private:
  const float* data_;
  const std::int32_t* ids32_ = nullptr;
  const std::int64_t* ids64_ = nullptr;
  std::int64_t weight_stride_ = 0;
  std::int64_t batch_stride_;
  std::int64_t row_stride_;
};

/// What is done to every row. All arguments of the functions below are checked, and nothing is
/// written if scratch memory cannot be had (std::bad_alloc).
struct RowWork {
  InputRows x;
  float scale;
  SequenceView<float> y;
  const simd::DropoutRule* dropout;  ///< null: none
  bool non_temporal;                 ///< if alignment allows; y is not x
  int threads;
};

/// Adds the encodings of rows.first .., as many as y has rows, without a table in memory: blocks of
/// rows are encoded into scratch memory that stays in cache, and added to every sequence of the
/// batch.
void add_encoding(const Encoder& encoder, RowRange rows, const RowWork& work);

/// Adds the rows of a table: row r of every sequence gets table row r.
void add_table(MatrixView<const float> table, const RowWork& work);

/// Adds nothing.
void scale_rows(const RowWork& work);

}  // namespace posenc
