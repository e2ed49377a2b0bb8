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

/// Dropout of every element, by its definition.
std::vector<float> by_definition(const Dropout& dropout, const std::vector<float>& in,
                                 std::uint64_t seed, std::uint64_t first = 0) {
  std::vector<float> out;
  for (std::size_t i = 0; i < in.size(); ++i)
    out.push_back(dropout.keeps(seed, first + i) ? in[i] * dropout.scale() : 0.0f);
  return out;
}

std::vector<float> applied(const Dropout& dropout, std::vector<float> x, std::uint64_t seed,
                           std::uint64_t first = 0) {
  dropout.apply(x, seed, first);
  return x;
}

constexpr double probabilities[] = {0.0, 1e-6, 0.1, 0.25, 1.0 / 3, 0.5, 0.9, 1 - 1e-6};

TEST(Dropout, IsItsDefinition) {
  // 5000 elements are several blocks of the generator. They begin at 0, at an odd element, shortly
  // before element 2^32 and counter 2^32, and at a very large element.
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{129}, (std::uint64_t{1} << 32) - 700,
        (std::uint64_t{1} << 36) - 1000, ~std::uint64_t{0} / 8}) {
    for (const double p : probabilities) {
      const Dropout dropout(p);
      const auto in = random_floats(5000);
      EXPECT_TRUE(same_bits(applied(dropout, in, 0x0123456789abcdef, first),
                            by_definition(dropout, in, 0x0123456789abcdef, first)))
          << p << " from " << first;
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

TEST(Dropout, MasksOfNeighboursAndOfOtherSeedsAreIndependent) {
  constexpr int count = 1 << 20;
  const Dropout dropout(0.5);
  const std::vector<float> ones(count + 128, 1.0f);
  const std::vector<float> a = applied(dropout, ones, 5), b = applied(dropout, ones, 6);
  const auto agreement = [&](const std::vector<float>& x, const std::vector<float>& y, int lag) {
    int same = 0;
    for (int i = 0; i < count; ++i)
      same += x[static_cast<std::size_t>(i)] == y[static_cast<std::size_t>(i + lag)];
    return same;
  };
  const double tolerance = 5 * std::sqrt(count * 0.25);
  EXPECT_NEAR(agreement(a, b, 0), count / 2.0, tolerance);
  for (const int lag : {1, 2, 4, 8, 64, 128})
    EXPECT_NEAR(agreement(a, a, lag), count / 2.0, tolerance) << lag;
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
