#include "posenc/model/row_positions.h"

#include "posenc/model/simd/kernels.h"
#include "posenc/support/check.h"

#include <algorithm>
#include <cstddef>

namespace posenc::model {

void validate(const RowPositions& positions, std::int64_t axes) {
  if (positions.is_range()) return validate(RowRange{positions.first(), positions.count()});
  if (positions.axes() != 0 && positions.axes() != axes) {
    throw_invalid(
        "positions are on {} axes; allowed: {}, or a position for each row that is equal on all",
        positions.axes(), axes);
  }
  if (positions.count() < 0)
    throw_invalid("row count is {}; allowed: at least 0", positions.count());
  for (std::int64_t axis = 0; axis < std::max<std::int64_t>(positions.axes(), 1); ++axis) {
    const IntegerView each = positions.list(axis);
    if (each.data() == nullptr && each.count() > 0)
      throw InvalidArgument("positions have no memory (null); allowed: a valid pointer");
    std::int64_t least = max_position, most = -max_position;
    simd::best_model_kernels().extent(each.data(), each.is_wide(), each.count(), least, most);
    if (least >= -max_position && most <= max_position) continue;
    const std::int64_t bad = least < -max_position ? least : most;
    std::int64_t row = 0;
    while (each[row] != bad) ++row;
    throw_invalid("position of row {} on axis {} is {}; allowed: {} to {}", row, axis, bad,
                  -max_position, max_position);
  }
}

std::int64_t grid_cells(const IntegerView& sizes) {
  check_range("the number of axes", sizes.count(), 0, max_axes);
  std::int64_t cells = 1;
  for (const std::int64_t size : sizes.list()) {
    if (size < 0 || __builtin_mul_overflow(cells, size, &cells) || cells > max_position) {
      throw_invalid("a size of the grid is {}; allowed: at least 0, and at most {} cells in all",
                    size, max_position);
    }
  }
  return cells;
}

std::vector<std::int64_t> grid_positions(const IntegerView& sizes, const IntegerView& firsts) {
  const std::int64_t cells = grid_cells(sizes);
  if (firsts.count() != 0 && firsts.count() != sizes.count()) {
    throw_invalid("there are {} first positions; allowed: none, or {}", firsts.count(),
                  sizes.count());
  }
  std::vector<std::int64_t> positions(static_cast<std::size_t>(sizes.count() * cells));
  std::int64_t repeats = cells;  // consecutive cells with the same position on the axis
  auto next = positions.begin();
  for (std::int64_t axis = 0; axis < sizes.count(); ++axis) {
    const RowRange of_axis = {firsts.count() == 0 ? 0 : firsts[axis], sizes[axis]};
    validate(of_axis);
    if (cells == 0) continue;
    repeats /= of_axis.count;
    for (std::int64_t cell = 0; cell < cells; ++cell)
      *next++ = of_axis.first + cell / repeats % of_axis.count;
  }
  return positions;
}

}  // namespace posenc::model
