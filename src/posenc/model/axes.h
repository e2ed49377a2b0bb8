/// @file
/// Specs of encodings over several axes, such as the time, height and width of a video. Each pair
/// of channels has an axis and a frequency. A row has a position on every axis.
///
///     // Flux: one block of columns for each axis, with frequencies of its own.
///     const posenc::model::AxesSpec flux =
///         posenc::model::axes_in_blocks({16, 56, 56}, {.base = 10000.0});
#pragma once

#include "posenc/model/row_positions.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace posenc::model {

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

/// How the axes share the pairs: "in sections of 16, 24, 24 pairs".
std::string to_string(const AxesSpec& spec);

/// The encoding of rows whose positions are equal on all axes, as in text. Empty unless the pairs
/// of a row, in their order, have the frequencies of one encoding. Also empty if the parts have
/// layouts. Throws InvalidArgument unless the spec is allowed.
std::optional<EncodingSpec> spec_of_equal_positions(const AxesSpec& spec);

/// The encoding `spec` on one axis. The spec is not validated.
AxesSpec one_axis(const EncodingSpec& spec);

/// A block of columns for each axis, channels[axis] wide, with all frequencies that `spec` has for
/// that width. Used by Flux, HunyuanVideo, Wan, CogVideoX and Qwen-Image. Throws InvalidArgument
/// unless the result is allowed.
AxesSpec axes_in_blocks(const IntegerView& channels, const EncodingSpec& spec);

/// The frequencies of `spec` run through all pairs. The first sections[0] pairs are on axis 0, the
/// next sections[1] pairs on axis 1, and so on, as in M-RoPE and XD-RoPE. Throws InvalidArgument
/// unless the spec is allowed, no section is negative, and the sections sum to spec.d_model / 2.
AxesSpec axes_in_sections(const IntegerView& sections, const EncodingSpec& spec);

/// The frequencies of `spec` run through all pairs, and the axes alternate. Pair k is on axis
/// a = k % n if a > 0 and k < n sections[a], and on axis 0 otherwise, where n is the number of
/// sections. This is mrope_interleaved of Qwen3-VL. Throws as axes_in_sections() does.
AxesSpec axes_interleaved(const IntegerView& sections, const EncodingSpec& spec);

/// The frequencies of `spec` run through all pairs. Among the first sections[1] + sections[2]
/// pairs, even pairs are on axis 1 and odd pairs on axis 2. All other pairs are on axis 0. ERNIE
/// 4.5-VL uses this arrangement with the sections (time, height, width). Throws as
/// axes_in_sections() does. Also throws unless there are three sections, and the sections of height
/// and width are equal.
AxesSpec axes_alternating(const IntegerView& sections, const EncodingSpec& spec);

}  // namespace posenc::model
