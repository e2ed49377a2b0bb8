// Dropout: the generator's published vectors, the rate, the scale, and a mask that depends only on
// (seed, element).
#include "posenc/model/dropout.h"

#include "model/layer_support.h"
#include "posenc/model/internal/philox.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

// kat_vectors of Random123 1.14, philox4x32 with 7 rounds: counters and keys of all zeros, of all
// ones, and of digits of pi.
TEST(Philox, GivesTheKnownVectors) {
  EXPECT_EQ(philox4x32_7({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32_7({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxCounter{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}));
  EXPECT_EQ(
      philox4x32_7({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxCounter{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}));
}

/// True if an element is kept, by the definition in dropout.h.
bool is_kept(double p, std::uint64_t seed, std::uint64_t i) {
  const auto word = [&](std::uint64_t n, std::uint32_t stream, std::uint64_t index) {
    return philox4x32_7({low_word(n), high_word(n), stream, 0},
                        {low_word(seed), high_word(seed)})[index];
  };
  const std::uint64_t r = i % 128;
  const std::uint32_t of_byte = word(8 * (i / 128) + r % 64 / 8, 0, 2 * (r / 64) + r % 8 / 4);
  const double byte = of_byte >> (8 * (i % 4)) & 255, whole = std::floor(256 * p);
  return byte == whole ? word(i, 1, 0) >= std::floor((256 * p - whole) * 0x1p32) : byte > whole;
}

std::vector<float> applied(const Dropout& dropout, std::vector<float> x, std::uint64_t seed,
                           std::uint64_t first = 0) {
  dropout.apply(x, seed, first);
  return x;
}

TEST(Dropout, IsItsDefinition) {
  constexpr std::uint64_t seed = 0x0123456789abcdef;
  const std::vector<float> in = random_floats(5000);
  // 5000 elements are several blocks of the generator. They begin at 0, at an odd element, shortly
  // before element 2^32 and counter 2^32, and at a very large element.
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{129}, (std::uint64_t{1} << 32) - 700,
        (std::uint64_t{1} << 36) - 1000, ~std::uint64_t{0} / 8}) {
    for (const double p : {0.0, 1e-6, 0.1, 0.25, 1.0 / 3, 0.5, 0.9, 1 - 1e-6}) {
      const Dropout dropout(p);
      std::vector<float> expected;
      for (std::size_t i = 0; i < in.size(); ++i) {
        expected.push_back(is_kept(p, seed, first + i) ? in[i] * dropout.scale() : 0.0f);
        ASSERT_EQ(dropout.keeps(seed, first + i), is_kept(p, seed, first + i));
      }
      EXPECT_TRUE(same_bits(applied(dropout, in, seed, first), expected)) << p << " from " << first;
    }
  }
}

// A probability below 2^-8 depends on the 32 bits behind an element's byte.
TEST(Dropout, DropsTheGivenFractionAndScalesTheRest) {
  constexpr int count = 1 << 20;
  const std::vector<float> ones(count, 1.0f);
  for (const double p : {1e-4, 0.001, 0.1, 0.25, 1.0 / 3, 0.5, 0.9, 0.999}) {
    const std::vector<float> out = applied(Dropout(p), ones, 42);
    const auto dropped = static_cast<double>(std::count(out.begin(), out.end(), 0.0f));
    EXPECT_NEAR(dropped, count * p, 5 * std::sqrt(count * p * (1 - p))) << p;
    EXPECT_EQ(std::count(out.begin(), out.end(), static_cast<float>(1 / (1 - p))),
              count - std::count(out.begin(), out.end(), 0.0f));
  }
}

TEST(Dropout, DropsNanToZero) {
  const Dropout dropout(0.5);
  const std::vector<float> in(1000, std::numeric_limits<float>::quiet_NaN());
  const std::vector<float> out = applied(dropout, in, 3);
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(std::isnan(out[i]), dropout.keeps(3, i)) << i;
}

TEST(Dropout, RefusesInvalidArguments) {
  expect_refused({
      {"dropout is 1; allowed: at least 0 and below 1", [] { Dropout(1.0); }},
      {"dropout is -0.1;", [] { Dropout(-0.1); }},
      {"dropout is nan;", [] { Dropout(std::nan("")); }},
  });
}

}  // namespace
}  // namespace posenc::test
