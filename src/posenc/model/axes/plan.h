// How rows of encodings over several axes are made. Internal: not installed.
//
// Rows whose positions are equal on all axes, such as text, are those of one encoder of all pairs.
// For others, each axis has an encoder of its own pairs: its distinct positions are encoded into a
// table, from which rows are joined.
#pragma once

#include "posenc/model/axes.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace posenc {
namespace detail {

/// Consecutive channels that are copied from the row of an axis to a row.
struct CopiedChannels {
  std::int64_t from, to, count;
};

/// The pairs that turn by the positions of one axis.
struct AxisPlan {
  std::int64_t axis;
  std::shared_ptr<const Encoder> encoder;
  std::vector<CopiedChannels> channels;
  /// If its channels are scattered: the encoder then is that of all pairs, and the channels are
  /// selected by a mask.
  bool has_whole_rows = false;

  std::int64_t columns() const noexcept { return encoder->spec().d_model; }
};

}  // namespace detail

struct AxesEncoder::Plan {
  AxesSpec spec;
  std::int64_t d_model;
  std::int64_t axes;
  Selection selection = {};
  /// All pairs, for rows whose positions are equal on all axes. Null if the parts have layouts.
  std::shared_ptr<const Encoder> of_equal = {};
  std::vector<detail::AxisPlan> of_axes = {};

  Plan(const AxesSpec& from, const Accuracy& accuracy, DataType type);
  void plan_parts(const Accuracy& accuracy, DataType type);
  void plan_axes(const Accuracy& accuracy, DataType type);
};

}  // namespace posenc
