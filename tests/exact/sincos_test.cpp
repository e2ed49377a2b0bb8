// Sine and cosine to 118 bits, and their rounding to every element type, against MPFR.
#include "posenc/exact/sincos.h"

#include "exact/mpfr_value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>

namespace posenc::test {
namespace {

template <std::size_t Limbs>
MpfrValue signed_value(const ExactValue<Limbs>& value) {
  return to_mpfr(value.magnitude) * MpfrValue(value.negative ? -1 : 1);
}

/// sin(2 pi phase) or cos(2 pi phase), where `phase` is exact.
template <std::size_t Limbs>
MpfrValue expected_value(const Fraction<Limbs>& phase, bool is_cosine) {
  return sine_or_cosine(to_mpfr(phase) * two_pi(), is_cosine);
}

void expect_exact(const Turns& phase) {
  for (const bool is_cosine : {false, true}) {
    const ExactValue<> value = is_cosine ? cosine(phase) : sine(phase);
    const MpfrValue expected = expected_value(phase, is_cosine);
    const double magnitude = static_cast<double>(mpfr_get_exp(expected.get()));
    SCOPED_TRACE(testing::Message() << "phase limb " << phase.limb[0] << ", cosine " << is_cosine);
    // |value| is at least 2^(magnitude - 1): a relative error below 2^-118.
    ASSERT_LE(log2_distance(signed_value(value), expected), magnitude - 1 - 118);
    for (const DataType type : all_data_types) {
      const Rounded rounded = round_to_bits(value, type, no_error);
      ASSERT_TRUE(rounded.is_certain) << to_string(type);
      ASSERT_EQ(rounded.bits, rounded_by_mpfr(expected, type)) << to_string(type);
    }
  }
}

// A power below the last bit is 0, and writes behind no limb.
static_assert(!is_zero(power_of_2<4>(-256)) && is_zero(power_of_2<4>(-257)));

/// Zeros follow the last limb, whether the leading bit begins a limb or not.
TEST(ExactTest, LeadingBitsOfTheLastLimb) {
  for (const std::uint64_t limb : {std::uint64_t{3}, std::uint64_t{3} << 62}) {
    const LeadingBits bits = leading_bits(Fraction<3>{{0, 0, limb}});
    EXPECT_TRUE(bits.mantissa == uint128{3} << 126);
    EXPECT_EQ(bits.exponent, std::bit_width(limb) - 192 - 128);
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

/// The second stage's sine and cosine, to the precision that it claims and beyond.
TEST(ExactTest, WidestPhases) {
  std::mt19937_64 random(5);
  for (std::uint64_t i = 0; i < 408; ++i) {
    Widest phase;
    for (std::uint64_t& limb : phase.limb) limb = random();
    // Also near and at multiples of an eighth of a turn.
    if (i >= 200) phase.limb[0] &= ~std::uint64_t{0} << 61;
    if (i >= 300)
      phase = shifted(shifted(phase, 200 - static_cast<int>(i)), 3) + Widest{{phase.limb[0]}};
    if (i >= 400) phase = {{i << 61}};
    for (const bool is_cosine : {false, true}) {
      const auto value = is_cosine ? cosine(phase) : sine(phase);
      ASSERT_LE(log2_distance(signed_value(value), expected_value(phase, is_cosine)), -768 + 8)
          << i;
    }
  }
}

/// The interval of these values begins at 0. Its other end decides whether they round to 0.
TEST(ExactTest, ValuesBelowTheErrorOfTheirPhase) {
  const ExactValue<> value{power_of_2<radian_limbs>(-200), true};
  for (const DataType type : all_data_types) {
    const Rounded rounded = round_to_bits(value, type, -190);
    EXPECT_EQ(rounded.is_certain, type != DataType::float64) << to_string(type);
    if (!rounded.is_certain) continue;
    EXPECT_EQ(rounded.bits, rounded_by_mpfr(signed_value(value), type)) << to_string(type);
  }
}

TEST(ExactTest, MultiplesOfAQuarterTurn) {
  for (std::uint64_t quarter = 0; quarter < 4; ++quarter) {
    const Turns phase{{quarter << 62, 0, 0, 0}};
    constexpr float sines[] = {0, 1, 0, -1};
    const auto float_bits = [](const ExactValue<>& value) {
      return round_to_bits(value, DataType::float32, no_error).bits;
    };
    EXPECT_EQ(float_bits(sine(phase)), bits(sines[quarter]));
    EXPECT_EQ(float_bits(cosine(phase)), bits(sines[(quarter + 1) % 4]));
  }
}

}  // namespace
}  // namespace posenc::test
