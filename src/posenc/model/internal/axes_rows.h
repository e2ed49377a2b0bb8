// How rows of encodings over several axes are made. Internal: not installed.
//
// Rows whose positions are equal on all axes, such as text, are those of one encoder of all pairs.
// For others, each axis has an encoder of its own pairs: its distinct positions are encoded into a
// table, from which rows are joined.
#pragma once

#include "posenc/model/axes.h"
#include "posenc/simd/kernels.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace posenc::detail {

/// The least and the greatest of integers; of none, max_position and -max_position.
struct Extent {
  std::int64_t least = max_position, most = -max_position;
};
Extent extent_of(const IntegerView& integers);

struct AxisPlan;

/// All that may fail is done when it is made, so that a caller who writes some rows at a time need
/// not stop between them. The encoder and the memory of the positions must outlive it.
class PreparedRows {
 public:
  /// Encodes the distinct positions of each axis, by so many threads. Requires valid positions.
  /// Throws std::bad_alloc.
  PreparedRows(const AxesEncoder& encoder, const RowPositions& positions, DataType type,
               int threads);
  PreparedRows(const PreparedRows&) = delete;
  PreparedRows& operator=(const PreparedRows&) = delete;

  std::int64_t count() const noexcept { return positions_.count(); }
  /// Writes `count` rows, from row `begin` on, to the first rows of `out`, which is of the type
  /// that they were prepared for. Allocates nothing if there is one thread, and any thread may call
  /// it.
  void write(std::int64_t begin, std::int64_t count, const OutputView& out,
             const EncodeOptions& options = {1, StorePolicy::cached}) const;

 private:
  void prepare(const AxisPlan& plan, int threads);

  const AxesEncoder::Plan& plan_;
  const DataType type_;
  std::vector<std::int64_t> list_;  ///< the positions of a range
  RowPositions positions_;
  bool all_equal_;                                  ///< one encoder writes all rows
  std::vector<simd::JoinPart> parts_ = {};          ///< of all rows
  std::vector<std::shared_ptr<void>> memory_ = {};  ///< of the parts
};

}  // namespace posenc::detail
