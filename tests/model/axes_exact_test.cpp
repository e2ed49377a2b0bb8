// Rotary caches over several axes against MPFR, at random positions of both signs up to 10^6.
#include "posenc/model/axes_presets.h"

#include "exact/mpfr_value.h"
#include "posenc/model/rotary.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace posenc::test {
namespace {

template <class T>
std::uint64_t bits_of(T value) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  return std::bit_cast<Bits>(value);
}

/// Compares a cache of cosines and sines with MPFR, entry by entry. Returns the number of entries.
template <class T>
std::int64_t compare_cache(const AxesSpec& spec, const RowPositions& positions) {
  const Rotary rotary(RotarySpec{.angles = spec});
  BasicMatrix<T> cache(positions.count(), spec.d_model());
  rotary.cache(positions, RotaryLayout::interleaved, cache.view());
  const auto places = places_of(spec);
  std::int64_t compared = 0;
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const AxisPairs& part = spec.parts[i];
    for (std::size_t pair = 0; pair < places[i].size(); ++pair) {
      const std::int64_t k =
          part.frequencies.empty() ? static_cast<std::int64_t>(pair) : part.frequencies[pair];
      for (std::int64_t row = 0; row < positions.count(); ++row) {
        for (const bool is_cosine : {true, false}) {
          const MpfrValue exact = exact_entry(part.spec, k, positions(part.axis, row), is_cosine);
          const T got = cache(row, 2 * places[i][pair] + (is_cosine ? 0 : 1));
          EXPECT_EQ(bits_of(got), rounded_by_mpfr(exact, data_type_of<T>))
              << "pair " << places[i][pair] << " at " << positions(part.axis, row);
          if (testing::Test::HasFailure()) return compared;
          ++compared;
        }
      }
    }
  }
  return compared;
}

class AxesOfPreset : public testing::TestWithParam<std::string> {};

TEST_P(AxesOfPreset, AreThoseOfMpfrAtPositionsUpToAMillion) {
  const AxesSpec spec = axes_table(GetParam(), GridSizes{1, 1, 1}).spec;
  constexpr std::int64_t rows = 60, far = 1000000;
  std::mt19937_64 random(17);
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < rows * spec.axes(); ++i)
    positions.push_back(1 + static_cast<std::int64_t>(random() % far) * (i % 4 == 0 ? -1 : 1));
  positions.front() = far;
  for (std::int64_t& position : positions) position += position == 0 ? 1 : 0;  // 0 has no exponent
  const RowPositions view(positions.data(), spec.axes(), rows, rows);
  std::int64_t compared = compare_cache<float>(spec, view);
  compared += compare_cache<Float16>(spec, view);
  compared += compare_cache<BFloat16>(spec, view);
  std::printf("%s: %lld entries are those of MPFR\n", GetParam().c_str(),
              static_cast<long long>(compared));
  EXPECT_EQ(compared, 3 * rows * spec.d_model());
}

INSTANTIATE_TEST_SUITE_P(All, AxesOfPreset,
                         testing::Values("flux", "wan", "qwen3_vl", "mrope", "hunyuan_video",
                                         "cogvideox", "qwen_image"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace posenc::test
