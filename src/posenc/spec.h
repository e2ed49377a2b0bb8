/// @file
/// The spec: the parameters of a sinusoidal positional encoding, and the rows of a table.
#pragma once

#include "posenc/error.h"
#include "posenc/frequency_rule.h"
#include "posenc/limits.h"

#include <cstdint>
#include <string_view>

namespace posenc {

/// The order of channels in a row. k = 0 .. h - 1 is the index of a frequency, and h = d_model / 2.
enum class Layout {
  interleaved,       ///< channel 2k is sin(pos w_k), channel 2k + 1 is cos(pos w_k)
  halves,            ///< channel k is sin(pos w_k), channel h + k is cos(pos w_k)
  halves_cos_first,  ///< channel k is cos(pos w_k), channel h + k is sin(pos w_k)
};

/// All layouts.
inline constexpr Layout all_layouts[] = {Layout::interleaved, Layout::halves,
                                         Layout::halves_cos_first};

/// How the frequencies are spaced between 1 and 1 / base.
enum class Spacing {
  paper,      ///< w_k = base^(-k / h): "Attention Is All You Need", section 3.5
  inclusive,  ///< w_k = base^(-k / (h - 1)), w_0 = 1: tensor2tensor's get_timing_signal_1d
};

/// All spacings.
inline constexpr Spacing all_spacings[] = {Spacing::paper, Spacing::inclusive};

/// The parameters of an encoding.
struct EncodingSpec {
  std::int64_t d_model = 512;           ///< channels of a row: even, 2 to max_d_model
  double base = 10000.0;                ///< finite and > 1
  Layout layout = Layout::interleaved;  ///< the order of channels in a row
  Spacing spacing = Spacing::paper;     ///< how the frequencies of the base are spaced
  FrequencyRule frequencies = {};       ///< the frequencies of the base by default

  bool operator==(const EncodingSpec&) const = default;
};

/// A run of positions: first, first + 1, ..., first + count - 1, each of magnitude up to
/// max_position.
struct RowRange {
  std::int64_t first = 0;  ///< the position of row 0
  std::int64_t count = 0;  ///< rows, at least 0

  /// The largest magnitude of a position in the range or of the position after the last one.
  std::int64_t farthest() const noexcept {
    return first < 0 ? (first + count > -first ? first + count : -first) : first + count;
  }

  bool operator==(const RowRange&) const = default;
};

/// Throws InvalidArgument unless every field of the spec is allowed.
void validate(const EncodingSpec& spec);

/// Throws InvalidArgument if the value was cast from a number that no enumerator has.
void validate(Layout layout);
/// Throws InvalidArgument if the value was cast from a number that no enumerator has.
void validate(Spacing spacing);

/// Throws InvalidArgument unless first is -max_position to max_position, count >= 0, and the last
/// position is at most max_position.
void validate(RowRange rows);

/// Bytes of a dense table of `count` rows with `element_bytes` bytes per channel. Throws
/// InvalidArgument if the size exceeds the range of a pointer difference.
std::int64_t table_bytes(const EncodingSpec& spec, std::int64_t count, std::int64_t element_bytes);

/// The name of the enumerator: "halves".
std::string_view to_string(Layout layout) noexcept;
/// The name of the enumerator: "paper".
std::string_view to_string(Spacing spacing) noexcept;
/// Parses the name of a layout. Throws InvalidArgument, listing the allowed names.
Layout parse_layout(std::string_view name);
/// Parses the name of a spacing. Throws InvalidArgument, listing the allowed names.
Spacing parse_spacing(std::string_view name);

/// The channels of the sine and the cosine of one frequency.
struct ChannelPair {
  std::int64_t sine;    ///< channel of the sine
  std::int64_t cosine;  ///< channel of the cosine
};

/// Where the channels of a row are.
struct RowLayout {
  std::int64_t d_model;  ///< channels of a row
  Layout layout;         ///< their order

  /// A spec converts to the layout of its rows.
  constexpr RowLayout(const EncodingSpec& spec) noexcept  // NOLINT: implicit
      : d_model(spec.d_model), layout(spec.layout) {}

  /// Number of frequencies: each has a sine and a cosine.
  constexpr std::int64_t frequencies() const noexcept { return d_model / 2; }
};

/// The channels of frequency k, which is 0 to row.frequencies() - 1.
constexpr ChannelPair channels_of(const RowLayout& row, std::int64_t k) noexcept {
  const std::int64_t half = row.frequencies();
  switch (row.layout) {
    case Layout::interleaved: return {2 * k, 2 * k + 1};
    case Layout::halves: return {k, half + k};
    case Layout::halves_cos_first: break;
  }
  return {half + k, k};
}

/// The denominator in the exponent of the base: w_k = base^(-k / exponent_denominator). At least 1.
constexpr std::int64_t exponent_denominator(const EncodingSpec& spec) noexcept {
  const std::int64_t half = spec.d_model / 2;
  if (spec.spacing == Spacing::paper) return half;
  return half > 1 ? half - 1 : 1;
}

}  // namespace posenc
