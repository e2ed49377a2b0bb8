// y = dropout(scale * x + encoding), which all layers of the input side use. Internal: not
// installed.
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/dropout.h"
#include "posenc/model/sequence_view.h"
#include "posenc/simd/dispatch.h"
#include "posenc/spec.h"

#include <cstdint>
#include <optional>

namespace posenc {

/// The rows of the input: those of a view, or the rows of a matrix that token ids select.
class InputRows {
 public:
  explicit InputRows(const AnySequences& x) noexcept
      : data_(static_cast<const char*>(x.data)),
        element_bytes_(x.element_bytes()),
        batch_stride_(x.batch_stride),
        row_stride_(x.row_stride) {}

  /// Ids are dense in the order of the output y.
  InputRows(MatrixView<const float> weights, const IntegerView& ids, const AnySequences& y) noexcept
      : data_(reinterpret_cast<const char*>(weights.data)),
        element_bytes_(sizeof(float)),
        ids_(ids),
        weight_stride_(weights.stride),
        batch_stride_(y.order == BatchOrder::batch_first ? y.rows : 1),
        row_stride_(y.order == BatchOrder::batch_first ? 1 : y.batch) {}

  const void* row(std::int64_t batch, std::int64_t row) const noexcept {
    std::int64_t place = batch * batch_stride_ + row * row_stride_;
    if (ids_) place = (*ids_)[place] * weight_stride_;
    return data_ + place * element_bytes_;
  }

  /// Elements from a row of a sequence to the next; 0 if ids select the rows.
  std::int64_t row_stride() const noexcept { return ids_ ? 0 : row_stride_; }

 private:
  const char* data_;
  std::int64_t element_bytes_;
  std::optional<IntegerView> ids_ = {};
  std::int64_t weight_stride_ = 0;
  std::int64_t batch_stride_;
  std::int64_t row_stride_;
};

/// The operation on every row. The caller of the functions below has checked all arguments. Nothing
/// is written if working memory cannot be allocated (std::bad_alloc).
struct RowWork {
  InputRows x;
  float scale;
  AnySequences y;          ///< of the type of x
  const Dropout* dropout;  ///< null: no dropout
  std::uint64_t seed;      ///< of dropout
  bool non_temporal;       ///< if type and alignment allow; y is not x
  int threads;
};

/// Adds the encodings of `rows`, which has the number of rows of y, without a table in memory.
/// Blocks of rows are encoded into memory that stays in cache, and added to every sequence
/// of the batch.
void add_encoding(const Encoder& encoder, RowRange rows, const RowWork& work);

/// Adds row r of a table to row r of every sequence; nothing if it has no memory.
void add_table(MatrixView<const float> table, const RowWork& work);

}  // namespace posenc
