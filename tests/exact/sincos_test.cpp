// Sine and cosine to 120 bits, and their rounding to every element type, against MPFR.
#include "posenc/exact/sincos.h"
#include "posenc/support/float_format.h"

#include "exact/mpfr_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace posenc::test {
namespace {

MpfrValue to_mpfr(const ExactValue& value) {
  MpfrValue result(0.0);
  mpfr_set_ui(result.get(), static_cast<unsigned long>(value.mantissa >> 64), MPFR_RNDN);
  mpfr_mul_2ui(result.get(), result.get(), 64, MPFR_RNDN);
  mpfr_add_ui(result.get(), result.get(), static_cast<unsigned long>(value.mantissa), MPFR_RNDN);
  mpfr_mul_2si(result.get(), result.get(), value.exponent, MPFR_RNDN);
  if (value.negative) mpfr_neg(result.get(), result.get(), MPFR_RNDN);
  return result;
}

/// sin(2 pi phase) or cos(2 pi phase), where `phase` is exact.
MpfrValue expected_value(const Turns& phase, bool cosine) {
  MpfrValue angle = test::to_mpfr<4>(phase);
  MpfrValue two_pi;
  mpfr_const_pi(two_pi.get(), MPFR_RNDN);
  mpfr_mul_2ui(two_pi.get(), two_pi.get(), 1, MPFR_RNDN);
  mpfr_mul(angle.get(), angle.get(), two_pi.get(), MPFR_RNDN);
  (cosine ? mpfr_cos : mpfr_sin)(angle.get(), angle.get(), MPFR_RNDN);
  return angle;
}

/// The bits of the value of `type` that is nearest to `value`, subnormal values included.
std::uint64_t rounded_by_mpfr(const MpfrValue& value, DataType type) {
  const FloatFormat format = format_of(type);
  // |value| is in [2^(exponent - 1), 2^exponent).
  const auto exponent = static_cast<int>(mpfr_get_exp(value.get()));
  const int ulp = std::max(exponent - format.precision, format.least_exponent);
  MpfrValue multiple;
  mpfr_abs(multiple.get(), value.get(), MPFR_RNDN);
  mpfr_mul_2si(multiple.get(), multiple.get(), -ulp, MPFR_RNDN);
  mpfr_rint(multiple.get(), multiple.get(), MPFR_RNDN);
  const double nearest = std::ldexp(mpfr_get_d(multiple.get(), MPFR_RNDN), ulp);  // exact
  const double signed_value = mpfr_sgn(value.get()) < 0 ? -nearest : nearest;
  if (type == DataType::float64) return std::bit_cast<std::uint64_t>(signed_value);
  if (type == DataType::float32)
    return std::bit_cast<std::uint32_t>(static_cast<float>(signed_value));
  return type == DataType::float16 ? posenc::nearest<Float16>(signed_value).bits
                                   : posenc::nearest<BFloat16>(signed_value).bits;
}

void expect_exact(const Turns& phase) {
  for (const bool is_cosine : {false, true}) {
    const ExactValue value = is_cosine ? cosine(phase) : sine(phase);
    const MpfrValue expected = expected_value(phase, is_cosine);
    const double magnitude = static_cast<double>(mpfr_get_exp(expected.get()));
    // |value| is at least 2^(magnitude - 1): a relative error below 2^-118.
    ASSERT_LE(log2_distance(to_mpfr(value), expected), magnitude - 1 - 118)
        << "phase limb " << phase.limb[0];
    ASSERT_EQ(round_to_float(value), mpfr_get_flt(expected.get(), MPFR_RNDN))
        << "phase limb " << phase.limb[0];
    for (const DataType type : all_data_types) {
      ASSERT_EQ(round_to_bits(value, type), rounded_by_mpfr(expected, type)) << to_string(type);
    }
  }
}

TEST(ExactTest, RandomPhases) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) expect_exact({{random(), random(), random(), random()}});
}

TEST(ExactTest, PhasesNearMultiplesOfAnEighthOfATurn) {
  std::mt19937_64 random(2);
  for (std::uint64_t eighth = 0; eighth < 8; ++eighth) {
    // From bit 180 on, the phase no longer holds enough bits of its distance from the multiple.
    for (int bit = 0; bit < 180; ++bit) {
      Turns offset{{random() | 1, random(), random(), random()}};
      for (int shifted = 0; shifted < bit; ++shifted) offset = offset / 2;
      if (offset.limb[0] >> 61 != 0) continue;
      const Turns centre{{eighth << 61, 0, 0, 0}};
      const Turns above = centre + offset, below = centre - offset;
      if (bit < 100) {
        expect_exact(above);
        expect_exact(below);
      } else {
        // Near their zeros, sine and cosine are only as precise as the phase: check the rounded
        // result.
        for (const Turns& phase : {above, below}) {
          ASSERT_EQ(round_to_float(sine(phase)),
                    mpfr_get_flt(expected_value(phase, false).get(), MPFR_RNDN))
              << bit;
          ASSERT_EQ(round_to_float(cosine(phase)),
                    mpfr_get_flt(expected_value(phase, true).get(), MPFR_RNDN))
              << bit;
        }
      }
    }
  }
}

TEST(ExactTest, MultiplesOfAQuarterTurn) {
  for (std::uint64_t quarter = 0; quarter < 4; ++quarter) {
    const Turns phase{{quarter << 62, 0, 0, 0}};
    constexpr float sines[] = {0, 1, 0, -1};
    EXPECT_EQ(round_to_float(sine(phase)), sines[quarter]);
    EXPECT_EQ(round_to_float(cosine(phase)), sines[(quarter + 1) % 4]);
  }
}

/// Entries against the formula in MPFR: random positions and channels, for bases that give
/// frequencies of every size.
TEST(ExactTest, EntriesOfSpecs) {
  std::mt19937_64 random(3);
  for (const double base : {1e4, 1.0001, 1e12, 1e60, 1e308}) {
    const EncodingSpec spec{96, base, Layout::interleaved, Spacing::inclusive};
    const Frequencies frequencies(spec);
    for (int i = 0; i < 600; ++i) {
      const auto k = static_cast<std::int64_t>(random() % 48);
      const auto position = static_cast<std::int64_t>(random() >> (11 + random() % 53));
      const Turns phase = frequencies.phase(k, position);
      for (const bool is_cosine : {false, true}) {
        const float expected =
            mpfr_get_flt(exact_entry(spec, k, position, is_cosine).get(), MPFR_RNDN);
        ASSERT_EQ(round_to_float(is_cosine ? cosine(phase) : sine(phase)), expected)
            << "base " << base << " k " << k << " position " << position;
      }
    }
  }
}

}  // namespace
}  // namespace posenc::test
