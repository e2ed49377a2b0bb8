// The extremes of a list of positions. Internal: not installed.
#pragma once

#include "posenc/model/sequence_view.h"
#include "posenc/spec.h"

#include <cstdint>

namespace posenc::detail {

/// The least and the greatest of some integers. If there are none, least is max_position and most
/// is -max_position.
struct Extent {
  std::int64_t least = max_position, most = -max_position;
};
Extent extent_of(const model::IntegerView& integers);

}  // namespace posenc::detail
