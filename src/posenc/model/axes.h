/// @file
/// Encodings of positions on several axes, such as the time, height and width of a video. Each pair
/// of channels has an axis and a frequency. A row has a position on every axis.
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

/// The largest number of axes.
inline constexpr std::int64_t max_axes = 16;

/// Pairs of channels that share an axis and take their frequencies from one encoding. With
/// LinearScaling{n}, positions count multiples of 1 / n.
struct AxisPairs {
  std::int64_t axis = 0;  ///< 0 to max_axes - 1
  /// The encoding. Its rule must have no attention factor. Its layout matters only if
  /// AxesSpec::parts_have_layouts.
  EncodingSpec spec = {};
  /// Indices of frequencies of `spec`: pair i has frequency k = frequencies[i]. If the list is
  /// empty, the pairs have all frequencies in their order.
  std::vector<std::int64_t> frequencies = {};
  /// Places of the pairs in a row: pair i is at place pairs[i]. If the list is empty, the pairs
  /// have consecutive places after the last place of the previous part.
  std::vector<std::int64_t> pairs = {};

  /// The number of pairs.
  std::int64_t count() const noexcept {
    return frequencies.empty() ? spec.d_model / 2 : static_cast<std::int64_t>(frequencies.size());
  }

  bool operator==(const AxisPairs&) const = default;
};

/// The parameters of an encoding on several axes: the pairs of a row, and where their channels are.
struct AxesSpec {
  /// The parts. Every pair of a row belongs to exactly one part.
  std::vector<AxisPairs> parts = {};
  /// The order of all channels of a row. Has no effect if parts_have_layouts.
  Layout layout = Layout::interleaved;
  /// If true, the channels of the parts follow one another, each part in the layout of its own
  /// spec. Grids place encodings side by side in this way.
  bool parts_have_layouts = false;

  /// The number of channels of a row.
  std::int64_t d_model() const noexcept;
  /// The largest axis of a part, plus 1.
  std::int64_t axes() const noexcept;

  bool operator==(const AxesSpec&) const = default;
};

/// Throws InvalidArgument unless every part is allowed and every pair belongs to exactly one part.
void validate(const AxesSpec& spec);

/// A pair of channels of a row, and its encoding.
struct AxisPair {
  std::size_t part;      ///< index into AxesSpec::parts
  std::int64_t k;        ///< index of its frequency in the encoding of the part
  std::int64_t place;    ///< index of the pair in the row
  ChannelPair channels;  ///< its channels in the row
};

/// All pairs of a row, part by part. The spec is not validated.
std::vector<AxisPair> pairs_of(const AxesSpec& spec);

/// The encoding of rows whose positions are equal on all axes, such as the rows of text. Throws
/// InvalidArgument unless the spec is allowed and has a single layout.
EncodingSpec spec_of_equal_positions(const AxesSpec& spec);

/// The encoding `spec` on one axis. The spec is not validated.
AxesSpec one_axis(const EncodingSpec& spec);

/// A block of columns for each axis, channels[axis] wide, with all frequencies that `spec` has for
/// that width. Used by Flux, HunyuanVideo, Wan, CogVideoX and Qwen-Image. Throws InvalidArgument
/// unless the result is allowed.
AxesSpec axes_in_blocks(std::span<const std::int64_t> channels, const EncodingSpec& spec);

/// The frequencies of `spec` run through all pairs. The first sections[0] pairs are on axis 0, the
/// next sections[1] pairs on axis 1, and so on, as in M-RoPE and XD-RoPE. Throws InvalidArgument
/// unless the spec is allowed, no section is negative, and the sections sum to spec.d_model / 2.
AxesSpec axes_in_sections(std::span<const std::int64_t> sections, const EncodingSpec& spec);

/// The frequencies of `spec` run through all pairs, and the axes alternate. Pair k is on axis
/// a = k % n if a > 0 and k < n sections[a], and on axis 0 otherwise, where n is the number of
/// sections. This is mrope_interleaved of Qwen3-VL. Throws as axes_in_sections() does.
AxesSpec axes_interleaved(std::span<const std::int64_t> sections, const EncodingSpec& spec);

/// The frequencies of `spec` run through all pairs. Among the first sections[1] + sections[2]
/// pairs, even pairs are on axis 1 and odd pairs on axis 2. All other pairs are on axis 0. ERNIE
/// 4.5-VL uses this arrangement with the sections (time, height, width). Throws as
/// axes_in_sections() does, and unless there are three sections with equal sections of height and
/// width.
AxesSpec axes_alternating(std::span<const std::int64_t> sections, const EncodingSpec& spec);

/// Positions of rows: a range or a list of positions, equal on all axes, or a position on every
/// axis. A view of the caller's memory. A range, and everything that converts to an IntegerView,
/// converts implicitly.
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
  bool is_range_ = false;  ///< stored, because an empty list may have null memory, too
};

/// Throws InvalidArgument unless the positions are on `axes` axes or equal on all axes, their
/// memory is not null, and each position is -max_position to max_position.
void validate(const RowPositions& positions, std::int64_t axes);

/// Encodings planned for a spec. The encoder is immutable: any number of threads may share it, and
/// copies share its memory. A row is a pure function of its positions. It is correctly rounded
/// unless another accuracy was asked for, so its bits are the same everywhere.
class AxesEncoder {
 public:
  /// Plans the backends that are selected for tables of `type` at any position. Throws
  /// InvalidArgument if the spec is not allowed or no backend promises the accuracy.
  explicit AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy = {},
                       DataType type = DataType::float32);

  /// The spec that the encoder was planned for.
  const AxesSpec& spec() const noexcept;
  /// The number of channels of a row.
  std::int64_t d_model() const noexcept;
  /// The selected backend, and why it was selected.
  const Selection& selection() const noexcept;

  /// Writes a row of d_model() channels for each row of positions to the first rows of `out`. If
  /// positions on an axis repeat, each distinct position is computed once. Throws InvalidArgument,
  /// before anything is written, if the positions or the view are not allowed (see
  /// Encoder::encode). Also throws std::bad_alloc.
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
/// of `sizes` varies fastest. firsts[axis] is the position of the first cell on that axis, which
/// may be negative; if `firsts` is empty, it is 0. Throws InvalidArgument as grid_cells() does, or
/// if a position is not allowed.
std::vector<std::int64_t> grid_positions(std::span<const std::int64_t> sizes,
                                         std::span<const std::int64_t> firsts = {});

}  // namespace posenc
