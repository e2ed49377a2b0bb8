// Axes and positions of the C interface, as those of the library.
#pragma once

#include "c/call.h"
#include "posenc/c_api.h"
#include "posenc/model/axes.h"

#include <cstdint>

struct posenc_axes {
  posenc::AxesSpec spec;
};

namespace posenc {
namespace detail {

inline RowPositions row_positions_of(const posenc_positions* positions) {
  const posenc_positions& from = checked(positions, "positions");
  check_reserved(from.reserved);
  if (from.type < POSENC_RANGE || from.type > POSENC_INT32) {
    throw InvalidArgument(format_text("positions.type is {}; allowed: {} to {}", from.type,
                                      static_cast<int>(POSENC_RANGE),
                                      static_cast<int>(POSENC_INT32)));
  }
  if (from.rows < 0) {
    throw InvalidArgument(format_text("positions.rows is {}; allowed: at least 0", from.rows));
  }
  if (from.type == POSENC_RANGE) return RowRange{from.first, from.rows};
  if (from.rows > 0) checked(static_cast<const char*>(from.data), "positions.data");
  if (from.type == POSENC_INT64) {
    return {static_cast<const std::int64_t*>(from.data), from.axes, from.rows, from.axis_stride};
  }
  return {static_cast<const std::int32_t*>(from.data), from.axes, from.rows, from.axis_stride};
}

}  // namespace detail
}  // namespace posenc
