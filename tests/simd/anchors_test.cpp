// The kernels of every ISA that runs here, against the exact values: the error of the anchors, and
// the rounding of the entries that are hardest to round.
#include "posenc/backends/vectorised.h"
#include "posenc/cpu.h"
#include "posenc/exact/entry.h"
#include "posenc/exact/sincos.h"
#include "posenc/registry.h"
#include "posenc/simd/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace posenc::test {
namespace {

std::vector<simd::IsaKernels> kernels_that_run_here() {
  std::vector<simd::IsaKernels> list;
  for (const simd::IsaKernels& each : simd::compiled_kernels()) {
    if (cpu_has(each.isa)) list.push_back(each);
  }
  return list;
}

class KernelTest : public testing::TestWithParam<simd::IsaKernels> {
 protected:
  std::unique_ptr<const Encoder> plan_rotation(const EncodingSpec& spec) const {
    return backend("rotation", GetParam().isa).plan(spec);
  }
};

double to_double(const ExactValue& value) {
  const double magnitude =
      std::ldexp(static_cast<double>(value.mantissa >> 64), value.exponent + 64);
  return value.negative ? -magnitude : magnitude;
}

TEST_P(KernelTest, AnchorsAreWithinTheirBound) {
  const Frequencies frequencies(EncodingSpec{512});
  const FrequencyTables tables(frequencies);
  const auto count = static_cast<std::size_t>(tables.padded_count());
  std::vector<double> sines(count), cosines(count);
  std::mt19937_64 random(1);
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t position = (random() >> 11) >> (random() % 53);
    GetParam().kernels.anchors(tables.padded_count(), tables.arrays(), position, sines.data(),
                               cosines.data());
    for (std::int64_t k = 0; k < frequencies.count(); ++k) {
      const Turns phase = frequencies.phase(k, static_cast<std::int64_t>(position));
      const double sine_error =
          std::fabs(sines[static_cast<std::size_t>(k)] - to_double(sine(phase)));
      const double cosine_error =
          std::fabs(cosines[static_cast<std::size_t>(k)] - to_double(cosine(phase)));
      worst = std::max({worst, sine_error, cosine_error});
    }
  }
  EXPECT_LE(worst, 0x1p-52);
  EXPECT_GT(worst, 0x1p-60) << "the comparison must be able to see an error";
}

/// In a directed rounding mode, each rounding may be off by an ulp, not half an ulp.
TEST_P(KernelTest, AnchorsAreWithinTwiceTheirBoundInEveryRoundingMode) {
  const Frequencies frequencies(EncodingSpec{512});
  const FrequencyTables tables(frequencies);
  const auto count = static_cast<std::size_t>(tables.padded_count());
  std::vector<double> sines(count), cosines(count);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (std::uint64_t position = 1; position < std::uint64_t{1} << 53; position *= 3) {
      ASSERT_EQ(std::fesetround(mode), 0);
      GetParam().kernels.anchors(tables.padded_count(), tables.arrays(), position, sines.data(),
                                 cosines.data());
      ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
      for (std::int64_t k = 0; k < frequencies.count(); ++k) {
        const Turns phase = frequencies.phase(k, static_cast<std::int64_t>(position));
        const auto at = static_cast<std::size_t>(k);
        ASSERT_NEAR(sines[at], to_double(sine(phase)), 0x1p-51) << "position " << position;
        ASSERT_NEAR(cosines[at], to_double(cosine(phase)), 0x1p-51) << "position " << position;
      }
    }
  }
}

/// Every entry against the exact value, for specs with very small values, values near zero, and
/// many values that round to the same float.
TEST_P(KernelTest, RotationIsCorrectlyRounded) {
  struct Case {
    EncodingSpec spec;
    RowRange rows;
  };
  constexpr Layout interleaved = Layout::interleaved;
  constexpr Layout halves = Layout::halves;
  const std::vector<Case> cases = {
      {{96}, {0, 1100}},
      {{96}, {(std::int64_t{1} << 53) - 200, 201}},
      {{96, 1.0000001, interleaved, Spacing::paper}, {0, 700}},  // all frequencies nearly 1
      {{96, 1e10, halves, Spacing::paper}, {1, 700}},            // tiny sines
      {{96, 1e60, interleaved, Spacing::inclusive}, {1, 60}},    // sines below float's subnormals
      {{96, 1e60, halves, Spacing::inclusive}, {1000000000000, 60}},
      {{2, 1e4, interleaved, Spacing::paper}, {354, 60000}},  // frequency 1: 355 is near 113 pi
      {{1026, 1e4, Layout::halves_cos_first, Spacing::inclusive}, {16, 40}},
  };
  for (const Case& each : cases) {
    const Frequencies frequencies(each.spec);
    Matrix table(each.rows.count, each.spec.d_model);
    plan_rotation(each.spec)->encode(each.rows, table.view());
    for (std::int64_t row = 0; row < each.rows.count; ++row) {
      for (std::int64_t k = 0; k < frequencies.count(); ++k) {
        const std::int64_t position = each.rows.first + row;
        const auto exact = [&](bool is_cosine) {
          const std::uint64_t bits =
              rounded_entry(frequencies, k, position, is_cosine, DataType::float32).bits;
          return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        };
        const ChannelPair channel = channels_of(each.spec, k);
        ASSERT_EQ(table(row, channel.sine), exact(false))
            << "base " << each.spec.base << " position " << position << " k " << k;
        ASSERT_EQ(table(row, channel.cosine), exact(true))
            << "base " << each.spec.base << " position " << position << " k " << k;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, KernelTest, testing::ValuesIn(kernels_that_run_here()),
                         [](const auto& test) { return std::string(to_string(test.param.isa)); });

}  // namespace
}  // namespace posenc::test
