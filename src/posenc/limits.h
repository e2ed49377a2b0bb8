/// @file
/// Limits: the largest number of channels, the largest position and the largest scaling factor.
#pragma once

#include "posenc/cxx20.h"

#include <cstdint>

namespace posenc {

/// The largest number of channels in a row.
inline constexpr std::int64_t max_d_model = std::int64_t{1} << 20;
/// Positions lie in -max_position to max_position. At position -p the sines are the negated sines
/// of p, and the cosines are the cosines of p.
inline constexpr std::int64_t max_position = std::int64_t{1} << 53;
/// The largest factor by which most rules of frequencies scale a model's length.
inline constexpr double max_scaling_factor = 0x1p20;

}  // namespace posenc
