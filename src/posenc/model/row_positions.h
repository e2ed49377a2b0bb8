/// @file
/// The positions of rows, on one axis or on several.
#pragma once

#include "posenc/model/sequence_view.h"
#include "posenc/spec.h"

#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace posenc::model {

/// The largest number of axes.
inline constexpr std::int64_t max_axes = 16;

/// A view of the positions of rows in the caller's memory: a range or a list of positions, equal on
/// all axes, or a position on every axis. A range converts implicitly, and so does everything that
/// converts to an IntegerView.
class RowPositions {
 public:
  /// A range of positions, equal on all axes.
  RowPositions(RowRange range) noexcept : range_(range), is_range_(true) {}  // NOLINT: implicit
  /// One position per row, equal on all axes.
  template <class Integers>
  requires std::is_convertible_v<const Integers&, IntegerView> RowPositions(
      const Integers& positions)
  noexcept  // NOLINT: implicit
      : RowPositions(positions, 0, 0) {}
  /// Does not exist, because the memory of a temporary list is gone before its positions are used.
  template <class Integers>
  requires(std::is_convertible_v<const Integers&, IntegerView> &&
           !std::is_lvalue_reference_v<Integers> && !std::ranges::borrowed_range<Integers> &&
           !std::is_same_v<std::remove_const_t<Integers>, IntegerView>) RowPositions(Integers&&)
  = delete;
  /// Positions positions[axis * axis_stride + row] for `axes` axes and `rows` rows. If `axes` is 0,
  /// positions are equal on all axes. The integers have 32 or 64 bits.
  template <class Integer>
  RowPositions(const Integer* positions, std::int64_t axes, std::int64_t rows,
               std::int64_t axis_stride) noexcept
      : RowPositions(IntegerView(positions, rows), axes, axis_stride) {}

  /// The number of rows.
  std::int64_t count() const noexcept { return is_range_ ? range_.count : list_.count(); }
  /// The number of axes; 0 if positions are equal on all axes.
  std::int64_t axes() const noexcept { return axes_; }
  /// True if the positions are first(), first() + 1, ...
  bool is_range() const noexcept { return is_range_; }
  /// The first position of a range; 0 for a list.
  std::int64_t first() const noexcept { return range_.first; }
  /// The positions of a list on an axis.
  IntegerView list(std::int64_t axis) const noexcept {
    return axes_ == 0 ? list_ : list_.part(axis * axis_stride_, list_.count());
  }
  /// The position of a row on an axis.
  std::int64_t operator()(std::int64_t axis, std::int64_t row) const noexcept {
    return is_range_ ? range_.first + row : list(axis)[row];
  }
  /// The positions of rows begin .. begin + count - 1.
  RowPositions part(std::int64_t begin, std::int64_t count) const noexcept {
    if (is_range_) return RowRange{range_.first + begin, count};
    return {list_.part(begin, count), axes_, axis_stride_};
  }
  /// Calls use(positions of an axis) with a RowRange or a span of 64-bit or 32-bit integers.
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
  bool is_range_ = false;  ///< stored, because the memory of an empty list may be null
};

/// Throws InvalidArgument unless the positions are on `axes` axes or equal on all axes, their
/// memory is not null, and each position is -max_position to max_position.
void validate(const RowPositions& positions, std::int64_t axes);

/// The number of cells of a grid. Throws InvalidArgument if there are more axes than max_axes, a
/// size is negative, or there are more than max_position cells.
std::int64_t grid_cells(const IntegerView& sizes);

/// The positions of the cells of a grid, in row-major order: positions[axis][cell]. The last axis
/// of `sizes` varies fastest. firsts[axis] is the position of the first cell on that axis, which
/// may be negative; if `firsts` is empty, it is 0. Throws InvalidArgument as grid_cells() does, or
/// if a position is not allowed.
std::vector<std::int64_t> grid_positions(const IntegerView& sizes, const IntegerView& firsts = {});

}  // namespace posenc::model
