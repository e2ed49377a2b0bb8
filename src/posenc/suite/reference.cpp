#include "posenc/suite/reference.h"

#include "posenc/exact/entry.h"
#include "posenc/support/format.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace posenc::suite {
namespace {

template <class T>
double value_of_bits(std::uint64_t bits) noexcept {
  using Word = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, Word>;
  return to_double(std::bit_cast<T>(static_cast<Bits>(bits)));
}

}  // namespace

SplitValue split(const ExactValue<>& value) noexcept {
  constexpr int rest_bits = 128 - std::min(LDBL_MANT_DIG, 64);
  const auto [mantissa, exponent] = leading_bits(value.magnitude);
  const uint128 rest = mantissa & ((static_cast<uint128>(1) << rest_bits) - 1);
  const int sign = value.negative ? -1 : 1;
  return {sign * std::ldexp(static_cast<long double>(mantissa - rest), exponent),
          sign * std::ldexp(static_cast<double>(rest), exponent)};
}

std::string_view to_string(ReferenceMethod method) noexcept {
  return method == ReferenceMethod::integers ? "integers" : "long double";
}

Reference::Reference(const EncodingSpec& spec, ReferenceMethod method)
    : spec_((validate(spec), spec)), method_(method), frequencies_(spec) {
  if (method == ReferenceMethod::long_double && reference_method != method) {
    throw InvalidArgument(
        format_text("reference method is long double, which has {} bits here; allowed: integers",
                    LDBL_MANT_DIG));
  }
}

ReferencePair Reference::operator()(std::int64_t k, std::int64_t position) const noexcept {
  if (position < 0) {
    const ReferencePair mirrored = (*this)(k, -position);
    return {-mirrored.sine, mirrored.cosine, -mirrored.sine_rest, mirrored.cosine_rest};
  }
  if (const auto quarters = frequencies_.whole_quarters(k, position)) {
    constexpr long double sines[] = {0, 1, 0, -1};
    return {sines[*quarters % 4], sines[(*quarters + 1) % 4]};
  }
  const Turns phase = frequencies_.phase(k, position);
  if (method_ == ReferenceMethod::integers) {
    const SplitValue sine = split(posenc::sine(phase)), cosine = split(posenc::cosine(phase));
    return {sine.leading, cosine.leading, sine.rest, cosine.rest};
  }
  const ReducedPhase reduced(phase);
  const SplitValue angle = split({radians_of<radian_limbs>(reduced.rest), reduced.negative});
  const long double s = std::sin(angle.leading), c = std::cos(angle.leading);
  const long double sine = s + angle.rest * c, cosine = c - angle.rest * s;
  switch (reduced.quadrant) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

double Reference::nearest(std::int64_t k, std::int64_t position, bool is_cosine, long double value,
                          DataType type) const noexcept {
  if (position < 0 && !is_cosine) return -nearest(k, -position, false, -value, type);
  if (position < 0) return nearest(k, -position, true, value, type);
  return with_type(type, [&]<class T>(T) {
    const auto exact = [&] {
      return value_of_bits<T>(rounded_entry(frequencies_, k, position, is_cosine, type).bits);
    };
    if (method_ == ReferenceMethod::integers) return exact();
    // For 16-bit types, values are rounded to double first, which could round twice. The wider
    // margin then puts doubles on both sides of a midpoint.
    constexpr long double margin_of_type = sizeof(T) == 2 ? 0x1p-51L : relative_error;
    const long double margin = std::fabs(value) * margin_of_type +
                               std::ldexp(1.0L, Frequencies::log2_phase_error(position));
    const auto round = [](long double x) {
      if constexpr (sizeof(T) == 2) {
        return to_double(posenc::nearest<T>(static_cast<double>(x)));
      } else {
        return static_cast<double>(static_cast<T>(x));
      }
    };
    const double below = round(value - margin);
    return below == round(value + margin) ? round(value) : exact();
  });
}

}  // namespace posenc::suite
