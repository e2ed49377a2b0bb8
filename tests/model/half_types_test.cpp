// Layers on 16-bit elements: conversions against to_double() and nearest() for every ISA, and each
// layer against the same layer in float32, rounded once.
#include "model/layer_support.h"
#include "posenc/data_type.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

template <class T>
constexpr bool is_bfloat16 = std::is_same_v<T, BFloat16>;

template <class T>
class HalfTypes : public testing::Test {};
using Types = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(HalfTypes, Types);

// The helpers below read bits, so that they hold under -ffast-math and where the processor takes
// subnormal floats for 0.

bool is_finite(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0x7f800000) != 0x7f800000;
}

/// A finite float as a double.
double exact_value(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 255);
  const auto fraction = static_cast<double>((bits & 0x7fffff) | (exponent == 0 ? 0 : 0x800000));
  const double magnitude = std::ldexp(fraction, std::max(exponent, 1) - 150);
  return bits >> 31 != 0 ? -magnitude : magnitude;
}

/// The bits of the float32 that equals a 16-bit value.
template <class T>
std::uint32_t widened_bits(T element) {
  const auto bits = static_cast<std::uint32_t>(element.bits);
  if constexpr (is_bfloat16<T>) {
    return bits << 16;
  } else {
    const std::uint32_t sign = (bits & 0x8000) << 16;
    if ((bits & 0x7c00) == 0x7c00) return sign | 0x7f800000 | (bits & 0x3ff) << 13;
    return sign | std::bit_cast<std::uint32_t>(static_cast<float>(std::fabs(to_double(element))));
  }
}

TYPED_TEST(HalfTypes, EveryValueIsWidenedExactly) {
  std::vector<std::uint16_t> all;
  for (int bits = 0; bits <= 0xffff; ++bits) all.push_back(static_cast<std::uint16_t>(bits));
  for_each_isa([&](const simd::ModelKernels& kernels, const simd::Kernels&) {
    std::vector<float> wide(all.size());
    kernels.widen(all.data(), std::ssize(all), is_bfloat16<TypeParam>, wide.data());
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      wrong += std::bit_cast<std::uint32_t>(wide[i]) != widened_bits(TypeParam{all[i]});
    EXPECT_EQ(wrong, 0);
  });
}

/// Every value, the midpoint above it, the floats next to both, and random floats.
template <class T>
std::vector<float> floats_to_narrow() {
  std::vector<float> floats = {std::numeric_limits<float>::max(), 65519.996f, 65520.0f, -65536.0f};
  const unsigned dropped = is_bfloat16<T> ? 16 : 13;
  for (std::uint32_t value = 0; value <= 0xffff; ++value) {
    const std::uint32_t bits = widened_bits(T{static_cast<std::uint16_t>(value)});
    for (const std::uint32_t around : {bits, bits + (1u << (dropped - 1))}) {
      for (const std::uint32_t step : {0u, 1u, ~0u})
        floats.push_back(std::bit_cast<float>(around + step));
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i)
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  return floats;
}

TYPED_TEST(HalfTypes, FloatsAreNarrowedToTheNearest) {
  const std::vector<float> floats = floats_to_narrow<TypeParam>();
  const std::uint16_t infinity = is_bfloat16<TypeParam> ? 0x7f80 : 0x7c00;
  for_each_isa([&](const simd::ModelKernels& kernels, const simd::Kernels&) {
    std::vector<std::uint16_t> narrow(floats.size());
    kernels.narrow(floats.data(), std::ssize(floats), is_bfloat16<TypeParam>, narrow.data());
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      if (is_finite(floats[i])) {
        wrong += TypeParam{narrow[i]} != nearest<TypeParam>(exact_value(floats[i]));
        continue;
      }
      const auto bits = std::bit_cast<std::uint32_t>(floats[i]);
      const bool is_nan = (bits & 0x7fffff) != 0;
      const std::uint32_t magnitude = is_nan ? infinity | infinity >> 1 : infinity;
      wrong += narrow[i] != ((bits >> 16 & 0x8000) | (magnitude & 0x7fff));
    }
    EXPECT_EQ(wrong, 0);
  });
}

TYPED_TEST(HalfTypes, SumsAreThoseOfFloat32RoundedOnce) {
  constexpr DataType type = data_type_of<TypeParam>;
  const auto encoding = random_floats(300);
  for_each_isa([&](const simd::ModelKernels& kernels, const simd::Kernels& tables) {
    for (const std::int64_t count : {0, 1, 7, 16, 33, 64, 299}) {
      for (const float* const added : {encoding.data() + 1, static_cast<const float*>(nullptr)}) {
        std::vector<TypeParam> x(count + 1), y(count + 1);
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i].bits = static_cast<std::uint16_t>(i * 40503 + (i == 5 ? 0x7fff : 0));
        std::vector<float> wide(x.size());
        kernels.widen(&x[0].bits, count + 1, is_bfloat16<TypeParam>, wide.data());
        tables.combine({x.data(), added, y.data(), count, 1.5f, simd::StoreMethod::plain, type});
        tables.combine({wide.data(), added, wide.data(), count, 1.5f});
        std::vector<TypeParam> expected(count + 1);
        kernels.narrow(wide.data(), count, is_bfloat16<TypeParam>, &expected[0].bits);
        EXPECT_EQ(y, expected) << count;
      }
    }
  });
}

TYPED_TEST(HalfTypes, ForwardAndBackwardAreThoseOfFloat32RoundedOnce) {
  using Narrow = SequencesOf<TypeParam>;
  const auto widened = [](const Narrow& narrow, BatchOrder order) {
    Sequences wide(order, 3, 50, 46, 4);
    wide.each(
        [&](auto... at) { wide.at(at...) = static_cast<float>(to_double(narrow.at(at...))); });
    return wide;
  };
  const auto expect_rounded = [](const Narrow& narrow, const Sequences& wide) {
    std::int64_t wrong = 0;
    wide.each([&](auto... at) {
      wrong += narrow.at(at...) != nearest<TypeParam>(static_cast<double>(wide.at(at...)));
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(narrow.gaps_untouched());
  };
  for (const EncodingSource source : {EncodingSource::cached, EncodingSource::fused}) {
    const PositionalEncoding layer({.d_model = 46}, 1000, 0.25, source);
    for (const BatchOrder order : {BatchOrder::batch_first, BatchOrder::sequence_first}) {
      for (const bool training : {false, true}) {
        const ForwardOptions options = {
            .offset = 900, .training = training, .seed = 3, .threads = 2};
        Narrow x(order, 3, 50, 46, 4);
        x.fill();
        Narrow y = x, gradient = x;
        Sequences wide = widened(x, order), wide_gradient = wide;
        layer.forward(wide.view(), options);
        layer.forward(x.view(), y.view(), options);
        expect_rounded(y, wide);
        layer.forward(x.view(), options);
        expect_rounded(x, wide);
        layer.backward(wide_gradient.view(), options);
        layer.backward(gradient.view(), options);
        expect_rounded(gradient, wide_gradient);
      }
    }
  }
}

}  // namespace
}  // namespace posenc::test
