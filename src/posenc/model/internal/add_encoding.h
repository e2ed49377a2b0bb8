// y = dropout(x + encoding). Internal: not installed.
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/dropout.h"
#include "posenc/model/sequence_view.h"
#include "posenc/simd/dispatch.h"
#include "posenc/spec.h"

#include <cstdint>

namespace posenc {

/// The operation on every row. The caller of the functions below has checked all arguments. Nothing
/// is written if working memory cannot be allocated (std::bad_alloc).
struct RowWork {
  AnySequences x;
  AnySequences y;          ///< of the type, the shape and the order of x
  const Dropout* dropout;  ///< null: no dropout
  std::uint64_t seed;      ///< of dropout
  bool non_temporal;       ///< if type and alignment allow; y is not x
  int threads;
};

/// Adds the encodings of `rows`, which has the number of rows of y, without a table in memory:
/// blocks of rows are encoded into memory that stays in cache, and added to every sequence.
void add_encoding(const Encoder& encoder, RowRange rows, const RowWork& work);

/// Adds row r of a dense table to row r of every sequence; nothing if it is null.
void add_table(const float* table, const RowWork& work);

}  // namespace posenc
