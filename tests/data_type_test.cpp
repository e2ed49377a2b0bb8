// Element types: conversions, and the guarantees of float32 tables for every other type.
#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/exact/entry.h"
#include "posenc/exact/frequency.h"
#include "posenc/registry.h"
#include "support.h"

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

namespace posenc::test {
namespace {

// ---- conversions to 16 bits

template <class T>
class SixteenBits : public testing::Test {};

using SixteenBitTypes = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(SixteenBits, SixteenBitTypes);

template <class T>
T from_bits(unsigned bits) {
  return {static_cast<std::uint16_t>(bits)};
}

template <class T>
constexpr unsigned infinity_bits = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80;

TYPED_TEST(SixteenBits, RoundsToNearestWithTiesToEven) {
  for (unsigned bits = 0; bits + 1 < infinity_bits<TypeParam>; ++bits) {
    const double low = to_double(from_bits<TypeParam>(bits)),
                 high = to_double(from_bits<TypeParam>(bits + 1));
    const double middle = (low + high) / 2;  // exact in double
    ASSERT_EQ(nearest<TypeParam>(low).bits, bits);
    ASSERT_EQ(nearest<TypeParam>(middle).bits, bits + bits % 2);
    ASSERT_EQ(nearest<TypeParam>(std::nextafter(middle, low)).bits, bits);
    ASSERT_EQ(nearest<TypeParam>(std::nextafter(middle, high)).bits, bits + 1);
    ASSERT_EQ(nearest<TypeParam>(-middle).bits, 0x8000 | (bits + bits % 2));
  }
}

TYPED_TEST(SixteenBits, OverflowsToInfinityUnderflowsToZeroAndKeepsNan) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double largest = to_double(from_bits<TypeParam>(infinity_bits<TypeParam> - 1));
  EXPECT_EQ(nearest<TypeParam>(infinity).bits, infinity_bits<TypeParam>);
  EXPECT_EQ(nearest<TypeParam>(-infinity).bits, 0x8000 | infinity_bits<TypeParam>);
  EXPECT_EQ(nearest<TypeParam>(2 * largest).bits, infinity_bits<TypeParam>);
  EXPECT_EQ(nearest<TypeParam>(largest).bits, infinity_bits<TypeParam> - 1);
  EXPECT_EQ(nearest<TypeParam>(0.0).bits, 0);
  EXPECT_EQ(nearest<TypeParam>(-0.0).bits, 0x8000);
  EXPECT_EQ(nearest<TypeParam>(1e-300).bits, 0);
  EXPECT_TRUE(std::isnan(to_double(nearest<TypeParam>(nan))));
}

// ---- tables

TEST(Rotation32, RefusesFloat64BeforeItWrites) {
  const auto encoder = backend("rotation32").plan({.d_model = 8});
  Guarded<double> table(4, 8, 8, 0);
  const std::string refused =
      refusal([&] { encoder->encode({.first = 0, .count = 4}, table.view()); });
  EXPECT_THAT(refused, HasSubstr("dtype is float64; allowed for backend rotation32: float32"));
  EXPECT_TRUE(table.untouched());
}

// ---- rotation: correctly rounded in every type

class RotationType : public testing::TestWithParam<BackendAndType> {};

TEST_P(RotationType, IsCorrectlyRoundedInEveryShape) {
  const auto [backend, type] = GetParam();
  for (const Layout layout : all_layouts) {
    for (const std::int64_t d_model : {2, 6, 34, 62, 98, 256, 514, 1030}) {
      const EncodingSpec spec = {.d_model = d_model, .layout = layout};
      const Frequencies frequencies(spec);
      const auto encoder = backend->plan(spec);
      for (const RowRange rows : {RowRange{0, 19}, RowRange{70'000, 87}, RowRange{1'000'003, 33},
                                  RowRange{max_position - 16, 17}}) {
        with_type(type, [&]<class T>(T) {
          BasicMatrix<T> table(rows.count, d_model);
          encoder->encode(rows, table.view());
          for (std::int64_t r = 0; r < rows.count; ++r) {
            for (std::int64_t k = 0; k < d_model / 2; ++k) {
              const ChannelPair channel = channels_of(spec, k);
              const std::int64_t position = rows.first + r;
              for (const bool is_cosine : {false, true}) {
                ASSERT_EQ(bits(table(r, is_cosine ? channel.cosine : channel.sine)),
                          rounded_entry(frequencies, k, position, is_cosine, data_type_of<T>).bits)
                    << position << ", k " << k;
              }
            }
          }
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rotation, RotationType,
                         testing::Combine(testing::ValuesIn(running_backends("rotation")),
                                          testing::ValuesIn(all_data_types)),
                         of_backend_and_type);

}  // namespace
}  // namespace posenc::test
