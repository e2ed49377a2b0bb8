#include "posenc/reference.h"

#include "posenc/exact.h"
#include "posenc/support/format.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace posenc {
namespace {

template <class T>
double value_of_bits(std::uint64_t bits) noexcept {
  if constexpr (sizeof(T) == 2) {
    return to_double(T{static_cast<std::uint16_t>(bits)});
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  } else {
    return std::bit_cast<double>(bits);
  }
}

}  // namespace

Reference::Reference(const EncodingSpec& spec) : spec_((validate(spec), spec)), frequencies_(spec) {
  if (LDBL_MANT_DIG <= DBL_MANT_DIG) {
    throw std::runtime_error(
        format_text("the reference needs a long double wider than double; here it has {} bits", LDBL_MANT_DIG));
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

double Reference::nearest(std::int64_t k, std::int64_t position, bool is_cosine, long double value,
                          DataType type) const noexcept {
  return with_type(type, [&]<class T>(T) {
    // A double on the way to 16 bits could round a second time: the wider margin then has a double on both sides of a midpoint.
    constexpr long double margin_of_type = sizeof(T) == 2 ? 0x1p-51L : relative_error;
    const long double margin = std::fabs(value) * margin_of_type;
    const auto round = [](long double x) {
      if constexpr (sizeof(T) == 2) {
        return to_double(posenc::nearest<T>(static_cast<double>(x)));
      } else {
        return static_cast<double>(static_cast<T>(x));
      }
    };
    const double below = round(value - margin);
    if (below == round(value + margin)) return below;
    const Turns phase = frequencies_.phase(k, position);
    return value_of_bits<T>(round_to_bits(is_cosine ? cosine(phase) : sine(phase), type));
  });
}

}  // namespace posenc
