// Caches of cosines and sines: the values of the encoder, the same in every layout.
#include "model/layer_support.h"
#include "posenc/model/rotary.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

constexpr std::int64_t dimension = 34, pairs = dimension / 2, rows = 530;

std::vector<std::int64_t> positions() {
  std::vector<std::int64_t> all(rows);
  for (std::int64_t i = 0; i < rows; ++i)
    all[static_cast<std::size_t>(i)] = i % 5 == 0 ? i : i * i * 104'729 - 9'000'000;
  return all;
}

template <class T>
class RotaryCaches : public testing::Test {};
using Types = testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(RotaryCaches, Types);

TYPED_TEST(RotaryCaches, HaveTheSameValuesInEveryLayout) {
  constexpr std::int64_t gap = 3;
  const auto list = positions();
  for (const Rotary& rotary : {Rotary(dimension), Rotary(dimension, 1e4, RotaryLayout::interleaved,
                                                         YarnScaling{.factor = 16})}) {
    BasicMatrix<TypeParam> cache(rows, dimension), pairwise(rows, dimension);
    rotary.cache(list, RotaryLayout::halves, cache.view(), 2);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < dimension; ++c) pairwise(r, c) = cache(r, c / 2 + c % 2 * pairs);
    }
    Guarded<TypeParam> interleaved(rows, dimension, dimension + gap, 1);
    rotary.cache(list, RotaryLayout::interleaved, interleaved.view(), 3);
    expect_rows(interleaved, pairwise, "interleaved");
    for (const Repeat repeat : {Repeat::once, Repeat::halves, Repeat::interleaved}) {
      // Both are columns of one table, with a gap.
      const std::int64_t each = repeat == Repeat::once ? pairs : dimension;
      BasicMatrix<TypeParam> expected(rows, 2 * each);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < 2 * each; ++c) {
          const std::int64_t column = c % each, half = c / each;
          const std::int64_t k = repeat == Repeat::interleaved ? column / 2 : column % pairs;
          expected(r, c) = cache(r, half * pairs + k);
        }
      }
      Guarded<TypeParam> table(rows, 2 * each, 2 * each + gap, 1);
      MatrixView<TypeParam> cosines = table.view();
      cosines.columns = each;
      MatrixView<TypeParam> sines = cosines;
      sines.data += each;
      rotary.cosines_and_sines(list, repeat, cosines, sines, 2);
      expect_rows(table, expected, "repeat " + std::to_string(static_cast<int>(repeat)));
    }
  }
}

TYPED_TEST(RotaryCaches, AreThoseOfTheAnglesTimesTheFactor) {
  const auto check = [&]<class Angle>(const FrequencyRule& rule, Angle) {
    const double factor = attention_factor(rule);
    const Rotary rotary(dimension, 1e4, RotaryLayout::halves, rule);
    const AxesEncoder angles(one_axis({.d_model = dimension,
                                       .layout = Layout::halves_cos_first,
                                       .frequencies = without_attention_factor(rule)}));
    BasicMatrix<Angle> exact(rows, dimension);
    BasicMatrix<TypeParam> cache(rows, dimension);
    const auto at = positions();
    angles.encode(at, exact.view());
    rotary.cache(at, RotaryLayout::halves, cache.view());
    std::int64_t wrong = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < dimension; ++c)
        wrong += cache(r, c) != nearest<TypeParam>(to_double(exact(r, c)) * factor);
    }
    EXPECT_EQ(wrong, 0);
  };
  check({}, TypeParam());
  check(YarnScaling{.factor = 16}, std::conditional_t<sizeof(TypeParam) == 2, float, TypeParam>());
}

TEST(RotaryCaches, MayHaveNoRows) {
  const Rotary rotary(4);
  const MatrixView<double> none = {nullptr, 0, 2, 2};
  rotary.cosines_and_sines(RowRange{5, 0}, Repeat::once, none, none);
  rotary.cache(RowRange{5, 0}, RotaryLayout::halves, MatrixView<Float16>{nullptr, 0, 4, 4});
}

TEST(RotaryCaches, AreRefusedWithTheirReason) {
  const Rotary rotary(4);
  std::vector<float> memory(200, 1.0f);
  std::vector<double> doubles(20);
  const auto table = [&](std::int64_t at, std::int64_t columns, std::int64_t stride = 8,
                         std::int64_t count = 5) {
    return MatrixView<float>{memory.data() + at, count, columns, stride};
  };
  const auto apart = [&](OutputView cosines, OutputView sines, Repeat repeat = Repeat::once) {
    return [=, &rotary] { rotary.cosines_and_sines(RowRange{0, 5}, repeat, cosines, sines); };
  };
  const auto into = [&](RowRange range, MatrixView<BFloat16> out) {
    return [=, &rotary] { rotary.cache(range, RotaryLayout::halves, out); };
  };
  expect_refused({
      {"cosines has 4 columns; allowed: this layout, 2", apart(table(0, 4), table(50, 2))},
      {"sines has 2 columns; allowed: this layout, 4",
       apart(table(0, 4), table(50, 2), Repeat::halves)},
      {"cosines has stride 1", apart(table(0, 2, 1), table(50, 2))},
      {"sines overlaps cosines", apart(table(0, 2), table(1, 2))},
      {"sines overlaps cosines", apart(table(0, 2), table(4, 2, 9))},
      {"sines.type is float64; allowed: that of the cosines, float32",
       apart(table(0, 2), MatrixView<double>{doubles.data(), 5, 2, 2})},
      {"sines has 4 rows; allowed: at least 5", apart(table(0, 2), table(0, 2, 2, 4))},
      {"cache has no memory", into({0, 2}, {nullptr, 2, 4, 4})},
      {"is -9007199254740993; allowed", into({-max_position - 1, 2}, {nullptr, 2, 4, 4})},
  });
  EXPECT_EQ(memory, std::vector<float>(200, 1.0f));
}

}  // namespace
}  // namespace posenc::test
