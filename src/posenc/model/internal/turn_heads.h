// Turns heads by rows of cosines and sines. Internal: not installed.
#pragma once

#include "posenc/model/rotary.h"
#include "posenc/model/sequence_view.h"

#include <cstdint>
#include <span>

namespace posenc {

/// Turns heads of several tensors. All have the same batch and rows.
struct HeadsToTurn {
  std::span<const HeadsView> tensors;
  RotaryLayout channels;
  std::int64_t pairs;
  /// True if each sequence has rows of angles of its own, those of sequence 0 first.
  bool own_angles;

  /// Turns by the rows of angles begin .. begin + count - 1, of which `angles` holds the values:
  /// cosines before sines, 2 * pairs floats each.
  void turn(std::int64_t begin, std::int64_t count, const float* angles) const noexcept;
};

}  // namespace posenc
