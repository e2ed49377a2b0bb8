// Correctly rounded tables of every rule of frequencies, against MPFR.
#include "frequency_rules.h"

#include "exact/mpfr_value.h"
#include "posenc/encoder.h"
#include "posenc/matrix.h"
#include "support.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace posenc::test {
namespace {

TEST(Rotation, RoundsEveryRuleOfFrequenciesCorrectly) {
  constexpr std::int64_t count = 40, checked_rows[] = {0, 1, 17, 39};
  for (const auto& [name, spec] : specs_of_every_rule()) {
    std::vector<std::unique_ptr<const Encoder>> encoders;
    for (const Backend* const each : running_backends()) {
      encoders.push_back(each->plan(spec));
      if (!encoders.back()->is_correctly_rounded(DataType::float32)) encoders.pop_back();
    }
    for (const std::int64_t first : {std::int64_t{1}, std::int64_t{1'000'000},
                                     std::int64_t{1'000'000'000'000}, max_position - count}) {
      std::vector<Matrix> tables;
      for (const auto& encoder : encoders) {
        encoder->encode(RowRange{first, count}, tables.emplace_back(count, spec.d_model).view());
      }
      for (const std::int64_t row : checked_rows) {
        for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
          const ChannelPair channel = channels_of(spec, k);
          for (const bool cosine : {false, true}) {
            const float expected =
                mpfr_get_flt(exact_entry(spec, k, first + row, cosine).get(), MPFR_RNDN);
            for (std::size_t i = 0; i < tables.size(); ++i) {
              ASSERT_EQ(tables[i](row, cosine ? channel.cosine : channel.sine), expected)
                  << name << ", " << to_string(encoders[i]->isa()) << ", position " << first + row
                  << ", k " << k << ", cosine " << cosine;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace posenc::test
