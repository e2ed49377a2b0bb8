// How rows of encodings over several axes are made. Internal: not installed.
//
// Rows whose positions are equal on all axes, as in text, come from one encoder of all pairs. For
// other rows, each axis has an encoder of its own pairs: the distinct positions of the axis are
// encoded into a table, and rows are joined from the tables.
#pragma once

#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/row_positions.h"
#include "posenc/model/simd/kernels.h"
#include "posenc/selection.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace posenc::detail {

/// Consecutive channels that are copied from the row of an axis to the row of the table.
struct CopiedChannels {
  std::int64_t from, to, count;
};

/// The pairs that are rotated by the positions of one axis.
struct AxisPlan {
  std::int64_t axis;
  std::vector<CopiedChannels> channels;
  std::shared_ptr<const Encoder> encoder = nullptr;
  /// True if the channels are scattered. The encoder then encodes all pairs, and a mask selects the
  /// channels.
  bool has_whole_rows = false;
};

/// The plan of an AxesEncoder.
struct AxesPlan {
  model::AxesSpec spec;
  std::int64_t d_model;
  std::int64_t axes;
  Selection selection = {};
  /// Encodes all pairs, for rows whose positions are equal on all axes. Null if parts have layouts.
  std::shared_ptr<const Encoder> of_equal = {};
  std::vector<AxisPlan> of_axes = {};
};

/// All that may fail is done when it is made, so that a caller who writes some rows at a time need
/// not stop between them. The plan and the memory of the positions must outlive it.
class PreparedRows {
 public:
  /// Encodes the distinct positions of each axis, by so many threads. Requires valid positions.
  /// Throws std::bad_alloc.
  PreparedRows(const AxesPlan& plan, const model::RowPositions& positions, DataType type,
               const Threads& threads);
  PreparedRows(const PreparedRows&) = delete;
  PreparedRows& operator=(const PreparedRows&) = delete;

  std::int64_t count() const noexcept { return positions_.count(); }
  /// Writes `count` rows, starting at row `begin`, to the first rows of `out`. `out` has the type
  /// that the rows were prepared for. Any thread may call this function. With one thread, it
  /// allocates nothing.
  void write(std::int64_t begin, std::int64_t count, const OutputView& out,
             const EncodeOptions& options = {1, StorePolicy::cached}) const;

 private:
  void prepare(const AxisPlan& plan, const Threads& threads);

  const AxesPlan& plan_;
  const DataType type_;
  const model::RowPositions positions_;
  const bool all_equal_;                            ///< true if one encoder writes all rows
  std::vector<simd::JoinPart> parts_ = {};          ///< the parts of every row
  std::vector<std::shared_ptr<void>> memory_ = {};  ///< memory of the parts
};

}  // namespace posenc::detail
