#include "posenc/suite/reference.h"

#include "posenc/exact/entry.h"
#include "posenc/support/format.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <type_traits>

namespace posenc::suite {
inline namespace internals {
namespace {

/// Below 2^-970, an ulp of float64 counts as 2^-1023, because its inverse is no finite double.
double ulps_per_unit(long double value, DataType type) noexcept {
  const FloatFormat format = format_of(type);
  const int ulp = value == 0 ? format.least_exponent : std::ilogb(value) - format.precision + 1;
  return std::ldexp(1.0, std::min(-std::max(ulp, format.least_exponent), DBL_MAX_EXP - 1));
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
    throw_invalid("reference method is long double, which has {} bits here; allowed: integers",
                  LDBL_MANT_DIG);
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
    using Word = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, Word>;
    const auto exact = [&] {
      const Rounded entry = rounded_entry(frequencies_, k, position, is_cosine, type);
      return to_double(std::bit_cast<T>(static_cast<Bits>(entry.bits)));
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

void fill_exact_pair(const Reference& reference, std::int64_t k, std::int64_t position,
                     const PairColumns& to, double factor, DataType type,
                     std::vector<ExactEntry>& row) {
  const ReferencePair pair = reference(k, position);
  for (const std::size_t i : {0, 1}) {
    const bool is_cosine = to.is_cosine[i];
    const long double value = is_cosine ? pair.cosine : pair.sine,
                      scaled = value * static_cast<long double>(factor);
    const double rest = (is_cosine ? pair.cosine_rest : pair.sine_rest) * factor;
    const auto high = static_cast<double>(scaled);
    const double nearest_value =
        factor == 1 ? reference.nearest(k, position, is_cosine, value, type)
                    : with_type(type, [&]<class T>(T) { return to_double(nearest<T>(high)); });
    row[static_cast<std::size_t>(to.columns[i])] = {
        high, static_cast<double>(scaled - static_cast<long double>(high)) + rest, nearest_value,
        ulps_per_unit(scaled, type)};
    if (to.columns[0] == to.columns[1]) return;
  }
}

void fill_exact_row(const Reference& reference, DataType type, std::int64_t position,
                    std::vector<ExactEntry>& row) {
  const EncodingSpec& spec = reference.spec();
  for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
    const ChannelPair to = channels_of(spec, k);
    const PairColumns columns = {{to.sine, to.cosine}, {false, true}};
    fill_exact_pair(reference, k, position, columns, 1, type, row);
  }
}

}  // namespace internals
}  // namespace posenc::suite
