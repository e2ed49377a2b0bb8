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

/// Real positions, as integer positions of a spec whose frequencies are divided by a denominator.
struct RealPositions {
  std::vector<std::int64_t> multiples = {};  ///< of 1 / denominator; magnitudes up to max_position
  double denominator = 1;                    ///< a power of two, 1 to 2^64
  /// The largest |multiple / denominator - position|: 0 if the positions are exact. An entry's
  /// exact value changes by at most this times its frequency before the division.
  double max_error = 0;

  /// The rule of the spec that encodes the multiples.
  LinearScaling frequencies() const noexcept { return {denominator}; }
};

/// The positions as multiples of 1 / denominator, each rounded to the nearest one.
///
/// Without a denominator, it is the smallest power of two that makes all positions exact, or else
/// the largest with which no multiple exceeds 2^53 and it does not exceed 2^64; max_error is then
/// at most 2^-53 times the largest position, or 2^-65 if that is more. With one, a spec that is
/// planned once serves all calls. Throws InvalidArgument if it is no power of two from 1 to 2^64,
/// or if the magnitude of a position exceeds 2^53 / denominator.
RealPositions real_positions(std::span<const double> positions,
                             std::optional<double> denominator = {});

}  // namespace posenc
