// docs/examples, which are there to be ported: their errors are what they say. ctest also compares
// the hashes of the table with those that posenc's tables have.
#include "../docs/examples/rotary_in_float32.h"

#include "posenc/model/rotary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace posenc {

using namespace model;
namespace {

TEST(Examples, RotaryInFloat32HasAtMostTheErrorItSays) {
  std::vector<std::int64_t> positions = {0, 1, 40, 2047, 131071, std::int64_t{1} << 31};
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) positions.push_back(random() >> (i % 20 + 1));
  for (const int d : {2, 64, 128, 256}) {
    for (const std::uint32_t base : {2U, 10'000U, 500'000U, 1'000'000'000U}) {
      const Rotary rotary(d, base);
      const auto rows = static_cast<std::int64_t>(positions.size());
      BasicMatrix<double> cosines(rows, d / 2), sines(rows, d / 2);
      rotary.cosines_and_sines(positions, Repeat::once, cosines.view(), sines.view());
      double largest = 0;
      for (int k = 0; k < d / 2; ++k) {
        const std::uint64_t frequency = rotary_in_float32::frequency(base, d, k);
        for (std::int64_t row = 0; row < rows; ++row) {
          const auto position =
              static_cast<std::uint64_t>(positions[static_cast<std::size_t>(row)]);
          const auto [cosine, sine] = rotary_in_float32::rotation_at(position, frequency);
          largest = std::max(
              {largest, std::abs(cosine - cosines(row, k)), std::abs(sine - sines(row, k))});
        }
      }
      EXPECT_LE(largest, 2e-7) << "d " << d << ", base " << base;
      EXPECT_GT(largest, 1e-9) << "nothing was compared";
    }
  }
}

}  // namespace
}  // namespace posenc
