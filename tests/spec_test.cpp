#include "posenc/spec.h"

#include "posenc/data_type.h"
#include "posenc/isa.h"
#include "support.h"

#include <cmath>
#include <limits>

namespace posenc::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

TEST(Spec, DModelsAreEvenFromTwoOn) {
  for (const std::int64_t d_model : {std::int64_t{2}, std::int64_t{98}, max_d_model})
    EXPECT_NO_THROW(validate(EncodingSpec{.d_model = d_model})) << d_model;
  for (const std::int64_t d_model :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{511}, std::int64_t{-2}, max_d_model + 2,
        int64_max, std::numeric_limits<std::int64_t>::min()}) {
    expect_refused({{"d_model is " + std::to_string(d_model) + "; allowed: even, 2 to 1048576",
                     [&] { validate(EncodingSpec{.d_model = d_model}); }}});
  }
}

TEST(Spec, BasesAreFiniteAndAboveOne) {
  for (const double base : {std::nextafter(1.0, 2.0), 2.0, 1e4, 1e300})
    EXPECT_NO_THROW(validate(EncodingSpec{.base = base})) << base;
  const std::pair<double, std::string> cases[] = {
      {0, "0"}, {1, "1"}, {-1, "-1"}, {-infinity, "-inf"}, {infinity, "inf"}, {nan, "nan"}};
  for (const auto& [base, text] : cases) {
    expect_refused({{"base is " + text + "; allowed: finite and greater than 1",
                     [base = base] { validate(EncodingSpec{.base = base}); }}});
  }
}

TEST(Spec, UnknownLayoutAndSpacingValuesAreRefused) {
  expect_refused({
      {"layout is 3", [] { validate(EncodingSpec{.layout = static_cast<Layout>(3)}); }},
      {"spacing is -1", [] { validate(EncodingSpec{.spacing = static_cast<Spacing>(-1)}); }},
  });
}

TEST(Spec, RowsUpToTwoToThe53AreAllowed) {
  for (const RowRange rows : {RowRange{0, 0}, RowRange{0, max_position + 1},
                              RowRange{-max_position, 5}, RowRange{max_position, 1}}) {
    EXPECT_NO_THROW(validate(rows)) << rows.first << " " << rows.count;
  }
  const auto rows = [](std::int64_t first, std::int64_t count) {
    return [=] { validate(RowRange{first, count}); };
  };
  expect_refused({
      {"first position is -9007199254740993; allowed: -9007199254740992 to 9007199254740992",
       rows(-max_position - 1, 1)},
      {"first position is 9007199254740993", rows(max_position + 1, 0)},
      {"first position is 9223372036854775807", rows(int64_max, int64_max)},
      {"row count is -1", rows(0, -1)},
      {"row count is 2; allowed from position 9007199254740992: 0 to 1", rows(max_position, 2)},
      {"row count is 9223372036854775807", rows(1, int64_max)},
  });
}

TEST(Spec, TableBytesRefusesSizesAboveThatOfAPointerDifference) {
  const EncodingSpec spec{.d_model = 512};
  EXPECT_EQ(table_bytes(spec, 5000, 4), 5000 * 512 * 4);
  EXPECT_EQ(table_bytes(spec, 0, 4), 0);
  EXPECT_EQ(table_bytes(spec, int64_max / 2048, 4), int64_max / 2048 * 2048);
  expect_refused(
      {{"row count is 4503599627370496; allowed at d_model 512: at most 4503599627370495",
        [&] { table_bytes(spec, int64_max / 2048 + 1, 4); }}});
}

TEST(Names, RoundTripAndUnknownOnesListTheAllowedOnes) {
  const auto expect = [](const auto& all, const auto& parse, const char* unknown,
                         const std::string& reason) {
    for (const auto each : all) EXPECT_EQ(parse(to_string(each)), each);
    EXPECT_THAT(refusal([&] { parse(unknown); }), HasSubstr(reason));
  };
  expect(all_layouts, parse_layout, "Halves",
         "layout is 'Halves'; allowed: interleaved, halves, halves_cos_first");
  expect(all_spacings, parse_spacing, "", "spacing is ''; allowed: paper, inclusive");
  expect(all_data_types, parse_data_type, "float8",
         "dtype is 'float8'; allowed: float32, float64, float16, bfloat16");
  expect(all_isas, parse_isa, "AVX2",
         "ISA is 'AVX2'; allowed: portable, sse2, avx2, avx512, neon64");
}

}  // namespace
}  // namespace posenc::test
