/// @file
/// Encodings of positions on several axes, such as the time, height and width of a video. Each pair
/// of channels has an axis and a frequency; a row has a position on every axis.
///
///     // Flux: one block of columns for each axis, with frequencies of its own.
///     const posenc::AxesSpec flux = posenc::axes_in_blocks({16, 56, 56}, {.base = 10000.0});
///     const posenc::AxesEncoder encoder(flux);
///     encoder.encode(posenc::RowPositions(positions, 3), table.view());  // positions[axis][row]
#pragma once

#include "posenc/accuracy.h"
#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/model/sequence_view.h"
#include "posenc/selection.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace posenc {

namespace detail {
class PreparedRows;
}

/// The number of axes is at most this.
inline constexpr std::int64_t max_axes = 16;

/// Pairs of channels whose positions are on one axis, and which have frequencies of one encoding.
/// LinearScaling{n} makes its positions multiples of 1 / n.
struct AxisPairs {
  std::int64_t axis = 0;  ///< 0 to max_axes - 1
  /// Any rule without an attention factor. Its layout matters if AxesSpec::parts_have_layouts.
  EncodingSpec spec = {};
  /// Which frequencies of the spec: frequencies[i] is the k of pair i. Empty: all, in their order.
  std::vector<std::int64_t> frequencies = {};
  /// Which pairs of a row they are: pairs[i] is the place of pair i. Empty: the consecutive places
  /// after the last one of the part before.
  std::vector<std::int64_t> pairs = {};

  /// How many pairs they are.
  std::int64_t count() const noexcept {
    return frequencies.empty() ? spec.d_model / 2 : static_cast<std::int64_t>(frequencies.size());
  }

  bool operator==(const AxisPairs&) const = default;
};

/// What to encode: the pairs of a row, and where their channels are.
struct AxesSpec {
  /// Every pair of a row belongs to exactly one part.
  std::vector<AxisPairs> parts = {};
  /// The order of all channels of a row, unless parts_have_layouts.
  Layout layout = Layout::interleaved;
  /// The channels of each part are one behind the other, each in the layout of its spec: encodings
  /// side by side, as grids have them.
  bool parts_have_layouts = false;

  /// Channels of a row.
  std::int64_t d_model() const noexcept;
  /// The largest axis of a part, plus 1.
  std::int64_t axes() const noexcept;

  bool operator==(const AxesSpec&) const = default;
};

/// Throws InvalidArgument unless every part is allowed, and every pair belongs to exactly one.
void validate(const AxesSpec& spec);

/// A pair of channels of a row, and what it encodes.
struct AxisPair {
  std::size_t part;      ///< index into AxesSpec::parts
  std::int64_t k;        ///< the number of its frequency in the encoding of the part
  std::int64_t place;    ///< which pair of the row it is
  ChannelPair channels;  ///< of the row
};

/// All pairs of a row, part by part. The spec is not validated.
std::vector<AxisPair> pairs_of(const AxesSpec& spec);

/// The encoding of rows whose positions are equal on all axes: that of text. Throws InvalidArgument
/// unless the spec is allowed, and has no layouts of parts.
EncodingSpec spec_of_equal_positions(const AxesSpec& spec);

/// An encoding of one axis. The spec is not validated.
AxesSpec one_axis(const EncodingSpec& spec);

/// A block of columns for each axis, channels[axis] wide, with all frequencies of `spec` for that
/// width. Flux, HunyuanVideo, Wan, CogVideoX, Qwen-Image. Throws InvalidArgument unless the result
/// is allowed.
AxesSpec axes_in_blocks(std::span<const std::int64_t> channels, const EncodingSpec& spec);

/// The frequencies of `spec` run through all pairs; the first sections[0] pairs are of axis 0, the
/// next sections[1] of axis 1, and so on. M-RoPE's sections, XD-RoPE's. Throws InvalidArgument
/// unless the spec is allowed, and the sections are not negative and sum to spec.d_model / 2.
AxesSpec axes_in_sections(std::span<const std::int64_t> sections, const EncodingSpec& spec);

/// The same frequencies; pair k is of axis a = k % n if a > 0 and k < n sections[a], else of axis
/// 0, where n is the number of sections. Qwen3-VL's mrope_interleaved. Throws as axes_in_sections()
/// does.
AxesSpec axes_interleaved(std::span<const std::int64_t> sections, const EncodingSpec& spec);

/// The same frequencies; of the first sections[1] + sections[2] pairs, even ones are of axis 1 and
/// odd ones of axis 2; the others are of axis 0. ERNIE 4.5-VL's, whose sections are (time, height,
/// width), with equal sections of height and width. Throws as axes_in_sections() does, and for
/// other sections than such three.
AxesSpec axes_alternating(std::span<const std::int64_t> sections, const EncodingSpec& spec);

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

/// Encodings planned for a spec. Immutable: any number of threads may use one, and copies share it.
/// A row is a pure function of its positions, and correctly rounded unless another accuracy was
/// asked for, so that its bits are the same everywhere.
class AxesEncoder {
 public:
  /// Plans the backends that are selected for tables of `type` at any position. Throws
  /// InvalidArgument if the spec is not allowed or no backend promises the accuracy.
  explicit AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy = {},
                       DataType type = DataType::float32);

  /// What it was planned for.
  const AxesSpec& spec() const noexcept;
  /// Channels of a row.
  std::int64_t d_model() const noexcept;
  /// Which backend was selected, and why.
  const Selection& selection() const noexcept;

  /// Writes a row of d_model() channels for each row of positions to the first rows of `out`. Each
  /// distinct position of an axis is computed once if positions repeat. Throws InvalidArgument,
  /// before anything is written, if the positions or the view are not allowed (see
  /// Encoder::encode), or std::bad_alloc.
  void encode(const RowPositions& positions, OutputView out, EncodeOptions options = {}) const;

 private:
  friend class detail::PreparedRows;
  struct Plan;
  std::shared_ptr<const Plan> plan_;
};

/// The number of cells of a grid. Throws InvalidArgument if there are more axes than max_axes, a
/// size is negative, or there are more than max_position cells.
std::int64_t grid_cells(std::span<const std::int64_t> sizes);

/// The positions of the cells of a grid, in row-major order: positions[axis][cell]. The last axis
/// of `sizes` runs fastest; firsts[axis] is the position of its first cell (empty: 0), which may be
/// negative. Throws InvalidArgument as grid_cells() does, or if a position is not allowed.
std::vector<std::int64_t> grid_positions(std::span<const std::int64_t> sizes,
                                         std::span<const std::int64_t> firsts = {});

}  // namespace posenc
