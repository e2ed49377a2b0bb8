// The frequencies of a spec. Internal: not installed.
#pragma once

#include "posenc/spec.h"

#include <cstdint>
#include <vector>

namespace posenc::check {

/// A spec without d_model for a table of that odd width: w_k = base^(-2 k / width).
EncodingSpec of_odd_width(EncodingSpec spec, std::int64_t width);

/// Frequency k of a base, perhaps divided by a factor.
double frequency_of(const EncodingSpec& spec, std::int64_t k) noexcept;

/// The frequencies of a spec as doubles, in radians per position, without reduction.
std::vector<double> frequencies_of(const EncodingSpec& spec);

}  // namespace posenc::check
