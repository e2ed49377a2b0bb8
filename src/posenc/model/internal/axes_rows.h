// Computes rows of encodings over several axes. Internal: not installed.
//
// If positions are equal on all axes, as in text, one encoder of all pairs computes the rows.
// Otherwise each axis has an encoder of its own pairs. It encodes the distinct positions of the
// axis into a table, and rows are joined from these tables.
#pragma once

#include "posenc/model/axes.h"
#include "posenc/simd/kernels.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace posenc::detail {

/// The least and the greatest of some integers. If there are none, max_position and -max_position.
struct Extent {
  std::int64_t least = max_position, most = -max_position;
};
Extent extent_of(const IntegerView& integers);

struct AxisPlan;

/// Rows that are ready to be written. Everything that may fail happens in the constructor, so a
/// caller that writes a few rows at a time need not stop in between. The encoder and the memory of
/// the positions must outlive the object.
class PreparedRows {
 public:
  /// Encodes the distinct positions of each axis with `threads` threads. Requires valid positions.
  /// Throws std::bad_alloc.
  PreparedRows(const AxesEncoder& encoder, const RowPositions& positions, DataType type,
               int threads);
  PreparedRows(const PreparedRows&) = delete;
  PreparedRows& operator=(const PreparedRows&) = delete;

  std::int64_t count() const noexcept { return positions_.count(); }
  /// Writes `count` rows, starting at row `begin`, to the first rows of `out`. `out` has the type
  /// that the rows were prepared for. Any thread may call this function. With one thread, it
  /// allocates nothing.
  void write(std::int64_t begin, std::int64_t count, const OutputView& out,
             const EncodeOptions& options = {1, StorePolicy::cached}) const;

 private:
  void prepare(const AxisPlan& plan, int threads);

  const AxesEncoder::Plan& plan_;
  const DataType type_;
  std::vector<std::int64_t> list_;  ///< the positions, if they are a range
  RowPositions positions_;
  bool all_equal_;                                  ///< true if one encoder writes all rows
  std::vector<simd::JoinPart> parts_ = {};          ///< the parts of every row
  std::vector<std::shared_ptr<void>> memory_ = {};  ///< memory of the parts
};

}  // namespace posenc::detail
