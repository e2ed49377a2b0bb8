// Tables of every rule of frequencies, and of real positions, against MPFR.
#include "frequency_rules.h"

#include "exact/mpfr_value.h"
#include "posenc/encoder.h"
#include "posenc/matrix.h"
#include "posenc/real_positions.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/measure.h"
#include "posenc/suite/measure_accuracy.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::test {
namespace {

constexpr std::int64_t encoded_rows = 40, checked_rows[] = {0, 1, 17, 39};

/// The exact entries of the checked rows from position `first` on.
std::vector<MpfrValue> exact_entries(const EncodingSpec& spec, std::int64_t first) {
  std::vector<MpfrValue> exact;
  for (const std::int64_t row : checked_rows)
    for (std::int64_t channel = 0; channel < spec.d_model; ++channel)
      exact.push_back(exact_entry(spec, channel / 2, first + row, channel % 2 != 0));
  return exact;
}

/// The largest error of an encoder's entries of type T. Expects that the encoder keeps its promise.
template <class T>
double checked_error(const Encoder& encoder, std::int64_t first,
                     const std::vector<MpfrValue>& exact) {
  constexpr DataType type = data_type_of<T>;
  const auto table = encoded<T>(encoder, {first, encoded_rows});
  const bool is_exact = encoder.backend().is_correctly_rounded(type);
  double largest = 0;
  auto value = exact.begin();
  for (const std::int64_t row : checked_rows) {
    for (const T entry : table.row(row)) {
      const long double error = std::fabs(to_double(entry) - mpfr_get_ld(value->get(), MPFR_RNDN));
      largest = std::max(largest, static_cast<double>(error));
      if (is_exact) {
        EXPECT_EQ(bits(entry), rounded_by_mpfr(*value, type)) << "row " << row;
      }
      ++value;
    }
  }
  if (!is_exact) {
    EXPECT_LE(largest, encoder.error_bound({first, encoded_rows}, type));
  }
  return largest;
}

/// Prints the errors as a table: docs/frequencies.md shows it.
TEST(FrequencyRules, AreEncodedAsEveryBackendPromises) {
  constexpr const char* methods[] = {"rotation", "rotation32", "naive", "div_term"};
  std::puts("Largest error, against MPFR, from this position on:");
  std::printf("%-20s %16s", "frequencies", "position");
  for (const char* const each : methods) std::printf(" %11s", each);
  std::puts("");
  for (const auto& [name, spec] : specs_of_every_rule()) {
    ASSERT_EQ(spec.layout, Layout::interleaved);
    for (const std::int64_t first :
         {std::int64_t{1}, std::int64_t{1'000'000}, std::int64_t{1'000'000'000'000},
          max_position - encoded_rows}) {
      const std::vector<MpfrValue> exact = exact_entries(spec, first);
      std::map<std::string_view, double> largest;  // by method, at any of its ISAs
      for (const auto& encoder : plan_all(running_backends(), table_of(spec, {0, 1})).encoders) {
        SCOPED_TRACE(name + ", " + encoder->backend().full_name() + " from " +
                     std::to_string(first));
        double& error = largest[encoder->backend().name()];
        error = std::max(error, checked_error<float>(*encoder, first, exact));
        if (encoder->backend().supports(DataType::float64)) {
          checked_error<double>(*encoder, first, exact);
        }
        ASSERT_FALSE(testing::Test::HasFailure());
      }
      std::printf("%-20s %16lld", name.c_str(), static_cast<long long>(first));
      for (const char* const each : methods) std::printf(" %11.2g", largest[each]);
      std::puts("");
    }
  }
}

/// The real position itself goes to MPFR, which shows whether it was rounded.
TEST(FrequencyRules, MakeRealPositionsCorrectlyRounded) {
  const EncodingSpec paper = {.d_model = 64};
  for (const std::vector<double>& positions : {std::vector<double>{0, 0.6, 0.7314159, 0.875},
                                               {731.4, 999.999, 12.5, 600.25},
                                               {1e12 + 0.125, 4e12}}) {
    const RealPositions real = real_positions(positions);
    ASSERT_EQ(real.max_error, 0);
    EncodingSpec spec = paper;
    spec.frequencies = real.frequencies();
    Matrix table(static_cast<std::int64_t>(positions.size()), spec.d_model);
    backend("rotation").plan(spec)->encode(real.multiples, table.view());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (std::int64_t channel = 0; channel < spec.d_model; ++channel) {
        const MpfrValue phase = exact_frequency(paper, channel / 2) * MpfrValue(positions[i]);
        const MpfrValue entry = sine_or_cosine(phase, channel % 2 == 1);
        ASSERT_EQ(table(static_cast<std::int64_t>(i), channel),
                  mpfr_get_flt(entry.get(), MPFR_RNDN))
            << "position " << positions[i] << ", channel " << channel;
      }
    }
  }
}

}  // namespace
}  // namespace posenc::test
