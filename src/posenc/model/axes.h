/// @file
/// What encodings of positions on several axes are, such as the time, height and width of a video.
/// Each pair of channels has an axis and a frequency; a row has a position on every axis.
///
///     // Flux: one block of columns for each axis, with frequencies of its own.
///     const posenc::AxesSpec flux = posenc::axes_in_blocks({16, 56, 56}, {.base = 10000.0});
#pragma once

#include "posenc/model/row_positions.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace posenc {

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

/// The encoding of rows whose positions are equal on all axes, as in text. It has no value if the
/// frequencies are not those of one encoding in their order, or if the parts have layouts. Throws
/// InvalidArgument unless the spec is allowed.
std::optional<EncodingSpec> spec_of_equal_positions(const AxesSpec& spec);

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

}  // namespace posenc
