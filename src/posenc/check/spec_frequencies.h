// The frequencies of a spec. Internal: not installed.
#pragma once

#include "posenc/spec.h"

#include <cstdint>
#include <vector>

namespace posenc::check {

/// Completes a spec without d_model for a table of this odd width. With paper spacing, w_k =
/// base^(-2 k / width).
EncodingSpec of_odd_width(EncodingSpec spec, std::int64_t width);

/// Frequency k of the spec's base, divided by the factor of LinearScaling if the spec has that
/// rule.
double frequency_of(const EncodingSpec& spec, std::int64_t k) noexcept;

/// The frequencies of a spec as doubles, in radians per position. Frequencies of the base, of
/// LinearScaling and of OwnFrequencies are not reduced. Other rules give them from -pi to pi.
std::vector<double> frequencies_of(const EncodingSpec& spec);

}  // namespace posenc::check
