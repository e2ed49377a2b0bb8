// What encodings over several axes are planned as. Internal: not installed.
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

/// Consecutive channels that are copied from the row of an axis to a row.
struct CopiedChannels {
  std::int64_t from, to, count;
};

/// The pairs that turn by the positions of one axis.
struct AxisPlan {
  std::int64_t axis;
  std::vector<CopiedChannels> channels;
  std::shared_ptr<const Encoder> encoder = nullptr;
  /// If its channels are scattered: the encoder then is that of all pairs, and the channels are
  /// selected by a mask.
  bool has_whole_rows = false;
};

/// What an AxesEncoder is planned as.
struct AxesPlan {
  AxesSpec spec;
  std::int64_t d_model;
  std::int64_t axes;
  Selection selection = {};
  /// All pairs, for rows whose positions are equal on all axes. Null if the parts have layouts.
  std::shared_ptr<const Encoder> of_equal = {};
  std::vector<AxisPlan> of_axes = {};

  AxesPlan(const AxesSpec& from, const Accuracy& accuracy, DataType type);
};

}  // namespace posenc::detail
