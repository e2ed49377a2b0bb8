// Correctly rounded functions of float32: by way of double, and in integers.
#include "posenc/exact/float32_functions.h"

#include "posenc/data_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace posenc {
namespace {

constexpr int samples = 20'000;
constexpr float infinite = std::numeric_limits<float>::infinity();

float random_float(std::mt19937_64& random, double low, double high) {
  return static_cast<float>(std::uniform_real_distribution<double>(low, high)(random));
}

/// The midpoint of a value above 0 and its neighbour on the side of `end`.
double midpoint(float x, float end) {
  return (to_double(x) + to_double(std::nextafter(x, end))) / 2;
}

TEST(Float32Functions, SinesEqualTheSinesInIntegers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < samples; ++i) {
    const float phase = std::ldexp(random_float(random, -1, 1), i % 64 - 8);
    EXPECT_EQ(nearest_sine(phase), in_integers::nearest_sine(phase)) << phase;
    EXPECT_EQ(nearest_cosine(phase), in_integers::nearest_cosine(phase)) << phase;
  }
  EXPECT_EQ(nearest_sine(0.0F), 0.0F);
  EXPECT_EQ(nearest_cosine(0.0F), 1.0F);
}

TEST(Float32Functions, ExponentialsLieBetweenTheirMidpoints) {
  std::mt19937_64 random(2);
  for (int i = 0; i < samples / 10; ++i) {
    const float x = random_float(random, -80, -1e-3);
    const float nearest = nearest_exp(x);
    EXPECT_TRUE(in_integers::is_exp_above(x, midpoint(nearest, 0))) << x;
    EXPECT_FALSE(in_integers::is_exp_above(x, midpoint(nearest, infinite))) << x;
  }
  EXPECT_EQ(nearest_exp(0.0F), 1.0F);
}

TEST(Float32Functions, PowersLieBetweenTheirMidpoints) {
  std::mt19937_64 random(3);
  for (int i = 0; i < samples / 10; ++i) {
    const float base = std::ldexp(random_float(random, 1.01, 2), i % 30);
    const float exponent = random_float(random, -1, 1);
    const float nearest = nearest_power(base, exponent);
    EXPECT_TRUE(in_integers::is_power_above(base, exponent, midpoint(nearest, 0)))
        << base << "^" << exponent;
    EXPECT_FALSE(in_integers::is_power_above(base, exponent, midpoint(nearest, infinite)))
        << base << "^" << exponent;
  }
  EXPECT_EQ(nearest_power(10000.0F, 0.0F), 1.0F);
  EXPECT_EQ(nearest_power(10000.0F, 0.25F), 10.0F);
  EXPECT_EQ(nearest_power(256.0F, 0.5F), 16.0F);
}

}  // namespace
}  // namespace posenc
