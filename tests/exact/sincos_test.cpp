// Sine and cosine to 118 bits, and their rounding to every element type, against MPFR.
#include "posenc/exact/sincos.h"

#include "exact/mpfr_value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
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
  MpfrValue angle = test::to_mpfr<4>(phase) * two_pi();
  (cosine ? mpfr_cos : mpfr_sin)(angle.get(), angle.get(), MPFR_RNDN);
  return angle;
}

/// The bits of the nearest float of sine or cosine, which must be certain.
std::uint64_t float_bits(const ExactValue& value) {
  const Rounded rounded = round_to_bits(value, DataType::float32, no_phase_error);
  EXPECT_TRUE(rounded.is_certain);
  return rounded.bits;
}

void expect_exact(const Turns& phase) {
  for (const bool is_cosine : {false, true}) {
    const ExactValue value = is_cosine ? cosine(phase) : sine(phase);
    const MpfrValue expected = expected_value(phase, is_cosine);
    const double magnitude = static_cast<double>(mpfr_get_exp(expected.get()));
    // |value| is at least 2^(magnitude - 1): a relative error below 2^-118.
    ASSERT_LE(log2_distance(to_mpfr(value), expected), magnitude - 1 - 118)
        << "phase limb " << phase.limb[0];
    for (const DataType type : all_data_types) {
      const Rounded rounded = round_to_bits(value, type, no_phase_error);
      ASSERT_TRUE(rounded.is_certain) << to_string(type) << ", phase limb " << phase.limb[0];
      ASSERT_EQ(rounded.bits, rounded_by_mpfr(expected, type))
          << to_string(type) << ", phase limb " << phase.limb[0];
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
    // To the last bits of a phase: the relative error does not depend on the distance.
    for (int bit = 0; bit < 250; ++bit) {
      Turns offset{{random() | 1, random(), random(), random()}};
      for (int shifted = 0; shifted < bit; ++shifted) offset = offset / 2;
      if (offset.limb[0] >> 61 != 0) continue;
      const Turns centre{{eighth << 61, 0, 0, 0}};
      expect_exact(centre + offset);
      expect_exact(centre - offset);
    }
  }
}

TEST(ExactTest, MultiplesOfAQuarterTurn) {
  for (std::uint64_t quarter = 0; quarter < 4; ++quarter) {
    const Turns phase{{quarter << 62, 0, 0, 0}};
    constexpr float sines[] = {0, 1, 0, -1};
    EXPECT_EQ(float_bits(sine(phase)), std::bit_cast<std::uint32_t>(sines[quarter]));
    EXPECT_EQ(float_bits(cosine(phase)), std::bit_cast<std::uint32_t>(sines[(quarter + 1) % 4]));
  }
}

}  // namespace
}  // namespace posenc::test
