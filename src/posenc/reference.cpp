#include "posenc/reference.h"

#include "posenc/exact.h"

#include <fmt/format.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace posenc {
Reference::Reference(const EncodingSpec& spec) : spec_((validate(spec), spec)), frequencies_(spec) {
  if (LDBL_MANT_DIG <= DBL_MANT_DIG) {
    throw std::runtime_error(
        fmt::format("the reference needs a long double wider than double; here it has {} bits", LDBL_MANT_DIG));
  }
}

ReferencePair Reference::operator()(std::int64_t k, std::int64_t position) const noexcept {
  const ReducedAngle angle = reduce_to_radians(frequencies_.phase(k, position));
  const long double sign = angle.negative ? -1.0L : 1.0L;
  const long double high = sign * std::ldexp(static_cast<long double>(static_cast<std::uint64_t>(angle.mantissa >> 64)),
                                             angle.exponent + 64);
  const long double low =
      sign * std::ldexp(static_cast<long double>(static_cast<std::uint64_t>(angle.mantissa)), angle.exponent);
  const long double s = std::sin(high), c = std::cos(high);
  const long double sine = s + low * c, cosine = c - low * s;
  switch (angle.quadrant) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

float Reference::nearest(std::int64_t k, std::int64_t position, bool is_cosine, long double value) const noexcept {
  const long double margin = std::fabs(value) * relative_error;
  const auto below = static_cast<float>(value - margin);
  if (below == static_cast<float>(value + margin)) return below;
  const Turns phase = frequencies_.phase(k, position);
  return round_to_float(is_cosine ? cosine(phase) : sine(phase));
}

}  // namespace posenc
