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
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::test {
namespace {

/// A backend's tables of some rows, and what MPFR says of the float32 one.
struct CheckedTables {
  std::unique_ptr<const Encoder> encoder;
  Matrix table;
  BasicMatrix<double> wide;  ///< empty unless float64 is correctly rounded
  double bound = 0;
  double max_abs = 0;

  void check(std::int64_t row, std::int64_t channel, const MpfrValue& exact) {
    const float entry = table(row, channel);
    const long double nearly = mpfr_get_ld(exact.get(), MPFR_RNDN);
    const auto error = static_cast<double>(std::fabs(entry - nearly));
    max_abs = std::max(max_abs, error);
    EXPECT_LE(error, bound);
    if (encoder->backend().is_correctly_rounded(DataType::float32)) {
      EXPECT_EQ(entry, mpfr_get_flt(exact.get(), MPFR_RNDN));
    }
    if (wide.rows() > 0) {
      EXPECT_EQ(wide(row, channel), mpfr_get_d(exact.get(), MPFR_RNDN));
    }
  }
};

std::vector<CheckedTables> tables_of_every_backend(const EncodingSpec& spec, RowRange rows) {
  std::vector<CheckedTables> all;
  for (auto& encoder : plan_all(running_backends(), table_of(spec, rows)).encoders) {
    const bool is_wide = encoder->backend().is_correctly_rounded(DataType::float64);
    Matrix table = encoded(*encoder, rows);
    BasicMatrix<double> wide;
    if (is_wide) wide = encoded<double>(*encoder, rows);
    const double bound = encoder->error_bound(rows);
    all.push_back({std::move(encoder), std::move(table), std::move(wide), bound});
  }
  return all;
}

/// The largest error of a method at any of its ISAs.
double max_abs_of(std::string_view method, const std::vector<CheckedTables>& tables) {
  double most = 0;
  for (const CheckedTables& each : tables) {
    if (each.encoder->backend().name() == method) most = std::max(most, each.max_abs);
  }
  return most;
}

/// Prints what it finds as a table: docs/frequencies.md shows it.
TEST(FrequencyRules, AreEncodedAsEveryBackendPromises) {
  constexpr std::int64_t count = 40, checked_rows[] = {0, 1, 17, 39};
  constexpr std::string_view methods[] = {"rotation", "rotation32", "naive", "div_term"};
  std::puts("Largest error, against MPFR, from this position on:");
  std::printf("%-20s %16s", "frequencies", "position");
  for (const std::string_view each : methods) std::printf(" %11s", std::string(each).c_str());
  std::puts("");
  for (const auto& [name, spec] : specs_of_every_rule()) {
    ASSERT_EQ(spec.layout, Layout::interleaved);
    for (const std::int64_t first : {std::int64_t{1}, std::int64_t{1'000'000},
                                     std::int64_t{1'000'000'000'000}, max_position - count}) {
      std::vector<CheckedTables> tables = tables_of_every_backend(spec, {first, count});
      for (const std::int64_t row : checked_rows) {
        for (std::int64_t channel = 0; channel < spec.d_model; ++channel) {
          const MpfrValue exact = exact_entry(spec, channel / 2, first + row, channel % 2 != 0);
          for (CheckedTables& each : tables) {
            each.check(row, channel, exact);
            ASSERT_FALSE(testing::Test::HasFailure())
                << name << ", " << each.encoder->backend().full_name() << ", position "
                << first + row << ", channel " << channel;
          }
        }
      }
      std::printf("%-20s %16lld", name.c_str(), static_cast<long long>(first));
      for (const std::string_view each : methods) std::printf(" %11.2g", max_abs_of(each, tables));
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
        MpfrValue entry = exact_frequency(paper, channel / 2) * MpfrValue(positions[i]);
        (channel % 2 == 0 ? mpfr_sin : mpfr_cos)(entry.get(), entry.get(), MPFR_RNDN);
        ASSERT_EQ(table(static_cast<std::int64_t>(i), channel),
                  mpfr_get_flt(entry.get(), MPFR_RNDN))
            << "position " << positions[i] << ", channel " << channel;
      }
    }
  }
}

}  // namespace
}  // namespace posenc::test
