// Rows of an encoding over several axes, prepared. Internal: not installed.
#pragma once

#include "posenc/model/axes/plan.h"
#include "posenc/simd/kernels.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace posenc::detail {

/// Throws as validate() does. Takes a vector operation a vector of positions.
void check_positions(const RowPositions& positions, std::int64_t axes);

/// All that may fail is done when it is made, so that a caller who writes some rows at a time need
/// not stop between them. The encoder and the memory of the positions must outlive it.
class PreparedRows {
 public:
  /// Encodes the distinct positions of each axis, by so many threads. Requires checked positions.
  /// Throws std::bad_alloc.
  PreparedRows(const AxesEncoder& encoder, const RowPositions& positions, DataType type,
               int threads);
  PreparedRows(const PreparedRows&) = delete;
  PreparedRows& operator=(const PreparedRows&) = delete;

  std::int64_t count() const noexcept { return positions_.count(); }
  std::int64_t columns() const noexcept { return plan_.d_model; }
  /// True if one encoder writes all rows.
  bool are_equal_on_all_axes() const noexcept { return all_equal_; }

  /// Writes `count` rows, from row `begin` on, to the first rows of `out`, which is of the type
  /// that they were prepared for. Allocates nothing, and any thread may call it.
  void write(std::int64_t begin, std::int64_t count, const OutputView& out,
             StorePolicy stores = StorePolicy::cached) const noexcept;
  /// The same for rows whose positions are equal on all axes.
  void write_equal(std::int64_t begin, std::int64_t count, const OutputView& out,
                   const EncodeOptions& options) const;

 private:
  /// The table of an axis, and which of its rows each row has.
  struct Axis {
    std::shared_ptr<void> table;
    std::int64_t first = 0;  ///< position of row 0 of the table, unless there is an index
    std::vector<std::int32_t> index = {};  ///< of each row, the row of the table
    std::vector<unsigned char> mask = {};  ///< of the bytes of a whole row, if they are scattered
  };

  Axis axis_of(const AxisPlan& plan, int threads) const;
  void add_parts(const AxisPlan& plan, const Axis& axis);

  const AxesEncoder::Plan& plan_;
  const DataType type_;
  std::vector<std::int64_t> list_;  ///< the positions of a range
  RowPositions positions_;
  bool all_equal_;
  std::vector<Axis> axes_ = {};
  std::vector<simd::JoinPart> parts_ = {};  ///< of all rows
};

}  // namespace posenc::detail
