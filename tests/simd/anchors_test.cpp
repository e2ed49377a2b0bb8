// The anchors of every ISA that runs here, in every rounding mode of the processor. The error in
// the usual mode: error_bounds_test.cpp.
#include "posenc/backends/constants.h"
#include "posenc/cpu.h"
#include "posenc/exact/sincos.h"
#include "posenc/simd/dispatch.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
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

class AnchorTest : public testing::TestWithParam<simd::IsaKernels> {};

double to_double(const ExactValue& value) {
  const double magnitude =
      std::ldexp(static_cast<double>(value.mantissa >> 64), value.exponent + 64);
  return value.negative ? -magnitude : magnitude;
}

/// In a directed rounding mode, each rounding may be off by an ulp, not half an ulp.
TEST_P(AnchorTest, AreWithinTwiceTheirBoundInEveryRoundingMode) {
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

INSTANTIATE_TEST_SUITE_P(Isas, AnchorTest, testing::ValuesIn(kernels_that_run_here()),
                         [](const auto& test) { return std::string(to_string(test.param.isa)); });

}  // namespace
}  // namespace posenc::test
