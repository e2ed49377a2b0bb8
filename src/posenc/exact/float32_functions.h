// Correctly rounded functions of float32. They give the values that the expf, powf, sinf and cosf
// of a C library approximate, with the same bits on every machine.
#pragma once

#include "posenc/support/detail.h"

namespace posenc::detail {

/// e^x for x from -709 to 0.
float nearest_exp(float x) noexcept;

/// base^exponent for a base of at least 1, and an exponent from -1 to 1.
float nearest_power(float base, float exponent) noexcept;

/// The sine and the cosine of a phase in radians, of magnitude up to 2^64.
float nearest_sine(float phase) noexcept;
float nearest_cosine(float phase) noexcept;

/// The same functions in integers. They decide if the C library's double is too close to the
/// midpoint of two floats. Tests compare both forms.
namespace in_integers {

/// True if e^x is above `midpoint`, for x from -709 to below 0 and a midpoint in (0, 1).
bool is_exp_above(float x, double midpoint) noexcept;
/// True if base^exponent is above `midpoint`, for a base above 1, an exponent from -1 to 1 other
/// than 0, and a midpoint above 0.
bool is_power_above(float base, float exponent, double midpoint) noexcept;
float nearest_sine(float phase) noexcept;
float nearest_cosine(float phase) noexcept;

}  // namespace in_integers
}  // namespace posenc::detail
