/// @file
/// Positions that are real numbers, such as the time steps of diffusion models and of flow
/// matching.
///
///     const std::vector<double> times = {0, 0.125, 731.4};
///     const posenc::RealPositions real = posenc::real_positions(times);
///     const auto encoder =
///         posenc::backend("rotation").plan({.d_model = 320, .frequencies = real.frequencies()});
///     encoder->encode(real.multiples, table.view());
#pragma once

#include "posenc/frequency_rule.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace posenc {

/// Real positions, expressed as integer positions of a spec whose frequencies are divided by a
/// denominator.
struct RealPositions {
  /// The positions in units of 1 / denominator, of magnitude up to max_position.
  std::vector<std::int64_t> multiples = {};
  double denominator = 1;  ///< a power of two, 1 to 2^64
  /// The largest |multiple / denominator - position|, which is 0 if all positions are exact. The
  /// exact value of an entry changes by at most max_error times the undivided frequency.
  double max_error = 0;

  /// The frequency rule of the spec that encodes the multiples.
  LinearScaling frequencies() const noexcept { return {denominator}; }
};

/// Converts positions to multiples of 1 / denominator, each rounded to the nearest multiple.
///
/// Without a denominator, the function chooses the smallest power of two that makes all positions
/// exact. If no power up to 2^64 does so with multiples up to 2^53, it chooses the largest power of
/// two up to 2^64 for which no multiple exceeds 2^53. max_error is then at most 2^-53 times the
/// largest position, or 2^-65 if that is more.
///
/// With a given denominator, a spec that is planned once serves all calls. Throws InvalidArgument
/// if the denominator is not a power of two from 1 to 2^64, or if the magnitude of a position
/// exceeds 2^53 / denominator.
RealPositions real_positions(std::span<const double> positions,
                             std::optional<double> denominator = {});

}  // namespace posenc
