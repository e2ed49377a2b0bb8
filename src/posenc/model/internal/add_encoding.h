// y = dropout(x + encoding). Internal: not installed.
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/dropout.h"
#include "posenc/model/sequence_view.h"
#include "posenc/simd/dispatch.h"
#include "posenc/spec.h"

#include <cstdint>

namespace posenc::model {
inline namespace internals {

/// The operation on every row. The caller of the functions below has checked all arguments. If
/// working memory cannot be allocated, std::bad_alloc is thrown and nothing is written.
struct RowWork {
  model::AnySequences x;
  model::AnySequences y;          ///< has the type, the shape and the order of x
  const model::Dropout* dropout;  ///< null if there is no dropout
  std::uint64_t seed;             ///< seed of dropout
  bool non_temporal;              ///< used if type and alignment allow it; y is not x
  Threads threads;
};

/// Adds the encodings of `rows`, which has as many rows as y. No table is kept in memory: blocks of
/// rows are encoded into memory that stays in cache, and added to every sequence.
void add_encoding(const Encoder& encoder, RowRange rows, const RowWork& work);

/// Adds row r of a dense table to row r of every sequence. Adds nothing if the table is null.
void add_table(const float* table, const RowWork& work);

}  // namespace internals
}  // namespace posenc::model
