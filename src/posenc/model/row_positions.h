/// @file
/// The positions of rows, on one axis or on several.
#pragma once

#include "posenc/model/sequence_view.h"
#include "posenc/spec.h"

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace posenc {

/// The number of axes is at most this.
inline constexpr std::int64_t max_axes = 16;

/// Positions of rows: a range or a list of positions, equal on all axes, or a position on every
/// axis. A view of the caller's memory. Converts implicitly from a range, and from what converts to
/// an IntegerView.
class RowPositions {
 public:
  /// Equal on all axes.
  RowPositions(RowRange range) noexcept : range_(range), is_range_(true) {}  // NOLINT: implicit
  /// One position a row, equal on all axes.
  template <class Integers>
  requires std::is_convertible_v<const Integers&, IntegerView> RowPositions(
      const Integers& positions)
  noexcept  // NOLINT: implicit
      : RowPositions(positions, 0, 0) {}
  /// positions[axis * axis_stride + row] for `axes` axes and `rows` rows; `axes` 0 means equal on
  /// all axes. The integers have 32 or 64 bits.
  template <class Integer>
  RowPositions(const Integer* positions, std::int64_t axes, std::int64_t rows,
               std::int64_t axis_stride) noexcept
      : RowPositions(IntegerView(positions, rows), axes, axis_stride) {}

  /// Rows.
  std::int64_t count() const noexcept { return is_range_ ? range_.count : list_.count(); }
  /// 0 if positions are equal on all axes.
  std::int64_t axes() const noexcept { return axes_; }
  /// True if the positions are first(), first() + 1, ...
  bool is_range() const noexcept { return is_range_; }
  /// The first position of a range; 0 of a list.
  std::int64_t first() const noexcept { return range_.first; }
  /// The positions of a list on an axis.
  IntegerView list(std::int64_t axis) const noexcept {
    return axes_ == 0 ? list_ : list_.part(axis * axis_stride_, list_.count());
  }
  /// The position of a row on an axis.
  std::int64_t operator()(std::int64_t axis, std::int64_t row) const noexcept {
    return is_range_ ? range_.first + row : list(axis)[row];
  }
  /// The rows begin .. begin + count - 1.
  RowPositions part(std::int64_t begin, std::int64_t count) const noexcept {
    if (is_range_) return RowRange{range_.first + begin, count};
    return {list_.part(begin, count), axes_, axis_stride_};
  }
  /// Calls use(positions of an axis): a RowRange, or a span of 64-bit or 32-bit integers.
  template <class Use>
  decltype(auto) of_axis(std::int64_t axis, const Use& use) const {
    return is_range_ ? use(range_) : list(axis).as_span(use);
  }

 private:
  RowPositions(const IntegerView& list, std::int64_t axes, std::int64_t axis_stride) noexcept
      : list_(list), axes_(axes), axis_stride_(axis_stride) {}

  RowRange range_ = {};
  IntegerView list_ = {};
  std::int64_t axes_ = 0;
  std::int64_t axis_stride_ = 0;
  bool is_range_ = false;  ///< not told from the list, whose memory may be null if it is empty
};

/// Throws InvalidArgument unless there are positions on `axes` axes, or equal ones, in memory that
/// is not null, and each is -max_position to max_position.
void validate(const RowPositions& positions, std::int64_t axes);

/// The number of cells of a grid. Throws InvalidArgument if there are more axes than max_axes, a
/// size is negative, or there are more than max_position cells.
std::int64_t grid_cells(std::span<const std::int64_t> sizes);

/// The positions of the cells of a grid, in row-major order: positions[axis][cell]. The last axis
/// of `sizes` runs fastest; firsts[axis] is the position of its first cell (empty: 0), which may be
/// negative. Throws InvalidArgument as grid_cells() does, or if a position is not allowed.
std::vector<std::int64_t> grid_positions(std::span<const std::int64_t> sizes,
                                         std::span<const std::int64_t> firsts = {});

}  // namespace posenc
