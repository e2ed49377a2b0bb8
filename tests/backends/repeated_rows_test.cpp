// Encoders that are planned for rows that repeat: the bits of every other encoder, in every type,
// for every part of the rows and beyond them.
#include "posenc/backend.h"
#include "posenc/registry.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

namespace posenc {
namespace {

using testing::HasSubstr;

constexpr RowRange repeated = {0, 3000};

class RepeatedRowsTest : public testing::TestWithParam<const Backend*> {
 protected:
  /// Expects the same bytes from both encoders.
  template <class Rows>
  static void expect_same(const Encoder& planned, const Encoder& plain, const Rows& rows,
                          std::int64_t count, DataType type, const EncodeOptions& options = {}) {
    const std::int64_t d_model = plain.spec().d_model;
    const auto table = [&](const Encoder& encoder) {
      std::vector<char> bytes(static_cast<std::size_t>(count * d_model * size_of(type)));
      with_type(type, [&]<class T>(T) {
        encoder.encode(rows,
                       MatrixView<T>{reinterpret_cast<T*>(bytes.data()), count, d_model, d_model},
                       options);
      });
      return bytes;
    };
    EXPECT_TRUE(table(planned) == table(plain)) << to_string(type) << ", d_model " << d_model;
  }

  /// The same for sums, in place and out of place. Half of x is 0, so that the sum has the last bit
  /// of the encoding; with the other half, a sum that is computed after x is overwritten is wrong.
  static void expect_same_sums(const Encoder& planned, const Encoder& plain, RowRange rows,
                               const EncodeOptions& options = {}) {
    const std::int64_t d_model = plain.spec().d_model;
    std::vector<float> x(static_cast<std::size_t>(rows.count * d_model));
    std::mt19937 random(1);
    for (float& each : x) each = random() % 2 == 0 ? 0.0f : static_cast<float>(random() % 977);
    const auto sums = [&](const Encoder& encoder, bool in_place) {
      std::vector<float> out = x;
      const std::vector<float>& from = in_place ? out : x;
      encoder.add(rows, MatrixView<const float>{from.data(), rows.count, d_model, d_model}, 1.5f,
                  MatrixView<float>{out.data(), rows.count, d_model, d_model}, options);
      return out;
    };
    const std::vector<float> expected = sums(plain, false);
    EXPECT_TRUE(sums(planned, false) == expected) << "out of place, d_model " << d_model;
    EXPECT_TRUE(sums(planned, true) == expected) << "in place, d_model " << d_model;
  }
};

TEST_P(RepeatedRowsTest, HaveTheBitsOfOtherEncoders) {
  const EncodingSpec specs[] = {{512}, {98, 500.0, Layout::halves_cos_first, Spacing::inclusive}};
  for (const EncodingSpec& spec : specs) {
    const auto plain = GetParam()->plan(spec);
    for (const DataType type : all_data_types) {
      if (!plain->backend().supports(type)) continue;
      const auto planned = GetParam()->plan(spec, {repeated, type});
      for (const RowRange rows :
           {repeated, RowRange{0, 1}, RowRange{1, 2}, RowRange{7, 600}, RowRange{517, 513},
            RowRange{2990, 10}, RowRange{2990, 40}, RowRange{1'000'000, 50}}) {
        expect_same(*planned, *plain, rows, rows.count, type);
      }
      expect_same(*planned, *plain, repeated, repeated.count, type, {3});
      expect_same(*planned, *plain, repeated, repeated.count, type, {1, StorePolicy::non_temporal});
    }
  }
}

TEST_P(RepeatedRowsTest, HaveTheSumsOfOtherEncoders) {
  const EncodingSpec specs[] = {
      {512},
      {98, 500.0, Layout::halves_cos_first, Spacing::inclusive},
      {.d_model = 2048, .base = 1e14},  // the first rows have dozens of uncertain entries,
      {.d_model = 8192, .base = 1e14},  // or hundreds
  };
  for (const EncodingSpec& spec : specs) {
    const auto plain = GetParam()->plan(spec), planned = GetParam()->plan(spec, {{0, 600}});
    if (!plain->backend().supports_add()) continue;
    for (const RowRange rows : {RowRange{0, 600}, RowRange{0, 1}, RowRange{1, 1}, RowRange{1, 3},
                                RowRange{7, 150}, RowRange{590, 30}}) {
      expect_same_sums(*planned, *plain, rows);
    }
    expect_same_sums(*planned, *plain, {0, 600}, {3});
    expect_same_sums(*planned, *plain, {0, 600}, {1, StorePolicy::non_temporal});
  }
}

/// Every part sees the blocks begin at other rows, so that its values before rounding differ.
TEST_P(RepeatedRowsTest, HaveTheSameBitsInEveryPart) {
  const EncodingSpec spec = {64};
  const DataType type = DataType::bfloat16;
  const auto plain = GetParam()->plan(spec), planned = GetParam()->plan(spec, {repeated, type});
  for (std::int64_t first = 0; first < 70; ++first) {
    expect_same(*planned, *plain, RowRange{first, 200}, 200, type);
  }
  std::vector<std::int64_t> positions(500);
  std::mt19937_64 random(1);
  for (std::int64_t& each : positions) each = static_cast<std::int64_t>(random() % 3100);
  expect_same(*planned, *plain, std::span<const std::int64_t>(positions), 500, type);
}

/// Backends that check the rounding of entries.
class CorrectedRowsTest : public RepeatedRowsTest {
 public:
  static std::vector<const Backend*> backends() {
    std::vector<const Backend*> checked = test::running_backends();
    std::erase_if(checked, [](const Backend* each) {
      return !each->is_correctly_rounded(DataType::float32);
    });
    return checked;
  }
};

/// So many entries that some would be rounded wrongly if they were not kept.
TEST_P(CorrectedRowsTest, AreTheEntriesWhoseRoundingIsUncertain) {
  constexpr RowRange many = {0, test::sanitized ? 1 << 15 : 1 << 20};
  constexpr std::int64_t part = 1 << 15;
  const EncodingSpec spec = {64};
  const auto plain = GetParam()->plan(spec), planned = GetParam()->plan(spec, {many});
  for (std::int64_t first = 0; first < many.count; first += part) {
    expect_same(*planned, *plain, RowRange{first, part}, part, DataType::float32);
    if (plain->backend().supports_add()) expect_same_sums(*planned, *plain, {first, part});
  }
}

/// In these columns every entry is tiny, and too many are uncertain to be kept.
TEST_P(RepeatedRowsTest, MayBeTiny) {
  const EncodingSpec spec = {.d_model = 64, .base = 1e60};
  for (const DataType type : {DataType::float32, DataType::float16}) {
    const auto plain = GetParam()->plan(spec), planned = GetParam()->plan(spec, {repeated, type});
    expect_same(*planned, *plain, RowRange{100, 700}, 700, type);
  }
}

TEST_P(RepeatedRowsTest, AreChecked) {
  const auto refusal = [&](const RepeatedRows& rows) {
    return test::refusal([&] { GetParam()->plan({512}, rows); });
  };
  EXPECT_THAT(refusal({{-max_position - 1, 5}}), HasSubstr("-9007199254740993"));
  EXPECT_THAT(refusal({{0, -2}}), HasSubstr("-2"));
  EXPECT_THAT(refusal({{0, max_position}}), HasSubstr("rows"));
}

INSTANTIATE_TEST_SUITE_P(All, RepeatedRowsTest, testing::ValuesIn(test::running_backends()),
                         [](const auto& each) { return test::identifier(*each.param); });
INSTANTIATE_TEST_SUITE_P(All, CorrectedRowsTest, testing::ValuesIn(CorrectedRowsTest::backends()),
                         [](const auto& each) { return test::identifier(*each.param); });

}  // namespace
}  // namespace posenc
