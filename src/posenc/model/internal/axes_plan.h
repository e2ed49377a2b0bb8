// The plan of an encoding over several axes. Internal: not installed.
//
// Rows whose positions are equal on all axes, as in text, come from one encoder of all pairs. For
// other rows, each axis has an encoder of its own pairs.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/model/axes.h"
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

  AxesPlan(const model::AxesSpec& from, const Accuracy& accuracy, DataType type);
};

}  // namespace posenc::detail
