// Rotary::apply() on views of heads: every order of dimensions, type and kind of positions against
// plain arithmetic, several tensors at once, the inverse, and what is refused.
#include "model/layer_support.h"
#include "posenc/model/rotary.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

constexpr std::int64_t batch = 2, heads = 3, dimension = 6, columns = 9;
/// More than are turned at once.
constexpr std::int64_t rows = 530;

enum class Order { heads_first, rows_first, rows_outermost };

/// Heads in memory with a gap after each.
template <class T>
struct Tensor {
  static constexpr std::int64_t head = columns + 2;
  std::vector<T> memory = std::vector<T>(batch * heads * rows * head);
  Order order;

  explicit Tensor(Order in, unsigned seed = 1) : order(in) {
    const auto values = random_floats(static_cast<std::int64_t>(memory.size()), seed);
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = nearest<T>(static_cast<double>(values[i]));
  }

  HeadsView view() {
    switch (order) {
      case Order::heads_first:
        return {memory.data(),
                {batch, heads, rows, columns, heads * rows * head, rows * head, head}};
      case Order::rows_first:
        return {memory.data(),
                {batch, heads, rows, columns, heads * rows * head, head, heads * head}};
      case Order::rows_outermost: break;
    }
    return {memory.data(), {batch, heads, rows, columns, heads * head, head, batch * heads * head}};
  }
};

template <class T>
float widened(T value) {
  return static_cast<float>(to_double(value));
}

template <class T>
void turn_pair(T& first, T& second, float cosine, float sine) {
  const float a = widened(first), b = widened(second);
  const float ac = a * cosine, bs = b * sine, bc = b * cosine, as = a * sine;
  first = nearest<T>(static_cast<double>(ac - bs));
  second = nearest<T>(static_cast<double>(bc + as));
}

/// Turns heads as the definition says, one pair after another.
template <class T>
void turn_plainly(const HeadsView& x, RotaryLayout channels, double factor, bool inverse,
                  const std::vector<std::int64_t>& positions) {
  const AxesEncoder angles(one_axis({.d_model = dimension, .layout = Layout::halves_cos_first}));
  Matrix table(static_cast<std::int64_t>(positions.size()), dimension);
  angles.encode(positions, table.view());
  const bool own = static_cast<std::int64_t>(positions.size()) == batch * rows;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t r = 0; r < rows; ++r) {
        T* const data =
            static_cast<T*>(x.data) + b * x.batch_stride + h * x.head_stride + r * x.row_stride;
        for (std::int64_t k = 0; k < dimension / 2; ++k) {
          const auto of_table = [&](std::int64_t column) {
            const auto value = static_cast<double>(table(own ? b * rows + r : r, column));
            return static_cast<float>(value * factor);
          };
          const float sine = of_table(dimension / 2 + k);
          const bool interleaved = channels == RotaryLayout::interleaved;
          turn_pair(data[interleaved ? 2 * k : k],
                    data[interleaved ? 2 * k + 1 : dimension / 2 + k], of_table(k),
                    inverse ? -sine : sine);
        }
      }
    }
  }
}

template <class T>
class RotaryHeads : public testing::Test {};
using Types = testing::Types<float, Float16, BFloat16>;
TYPED_TEST_SUITE(RotaryHeads, Types);

TYPED_TEST(RotaryHeads, AreTurnedAsTheDefinitionSays) {
  std::vector<std::int64_t> shared(rows), own(batch * rows);
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] = static_cast<std::int64_t>(i * i) - 1000;
    if (i < shared.size()) shared[i] = 100'000 - 3 * static_cast<std::int64_t>(i);
  }
  for (const Order order : {Order::heads_first, Order::rows_first, Order::rows_outermost}) {
    for (const RotaryLayout channels : {RotaryLayout::halves, RotaryLayout::interleaved}) {
      for (const auto* positions : {&shared, &own}) {
        for (const auto& [inverse, factor] : {std::tuple(false, 1.0), {true, 1.0}, {true, 1.25}}) {
          const Rotary rotary({.angles = one_axis({.d_model = dimension}),
                               .channels = channels,
                               .attention_factor = factor});
          Tensor<TypeParam> x(order), expected(order);
          rotary.apply(x.view(), *positions, {.inverse = inverse, .threads = 3});
          turn_plainly<TypeParam>(expected.view(), channels, factor, inverse, *positions);
          EXPECT_TRUE(x.memory == expected.memory) << static_cast<int>(order);
        }
      }
    }
  }
}

TYPED_TEST(RotaryHeads, OfSeveralTensorsAreTurnedAsEachAlone) {
  // Queries, keys and values of a row are one behind the other; values are not turned.
  constexpr std::int64_t of_keys = 1, row = (heads + 2 * of_keys) * columns;
  const auto values = random_floats(batch * rows * row);
  std::vector<TypeParam> together(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    together[i] = nearest<TypeParam>(static_cast<double>(values[i]));
  std::vector<TypeParam> apart = together;
  const auto view = [&](std::vector<TypeParam>& memory, std::int64_t first, std::int64_t count) {
    return HeadsView(memory.data() + first * columns,
                     {batch, count, rows, columns, rows * row, columns, row});
  };
  const Rotary rotary(dimension);
  const HeadsView both[] = {view(together, 0, heads), view(together, heads, of_keys)};
  rotary.apply(both, RowRange{5, rows}, {.threads = 2});
  rotary.apply(view(apart, 0, heads), 5);
  rotary.apply(view(apart, heads, of_keys), 5);
  EXPECT_TRUE(together == apart);
}

/// Pairs that are fewer than a vector, more, and many; heads of all bits if they have 16.
TYPED_TEST(RotaryHeads, HaveTheSameBitsOnEveryIsa) {
  const auto is_nan = [](TypeParam value) { return std::isnan(widened(value)); };
  std::mt19937 random(3);
  for (const std::int64_t of_head : {1, 3, 8, 17, 33, 64, 100}) {
    const std::int64_t stride = 2 * of_head + 1;
    const auto angles = random_floats(2 * of_head, 2), values = random_floats(2 * stride);
    for (const bool interleaved : {false, true}) {
      std::vector<TypeParam> x(values.size());
      if constexpr (std::is_same_v<TypeParam, float>) {
        x = values;
      } else {
        for (TypeParam& each : x) each.bits = static_cast<std::uint16_t>(random());
      }
      std::vector<TypeParam> expected = x;
      for (std::int64_t head = 0; head < 2; ++head) {
        for (std::int64_t k = 0; k < of_head; ++k) {
          TypeParam* const own = expected.data() + head * stride;
          turn_pair(own[interleaved ? 2 * k : k], own[interleaved ? 2 * k + 1 : of_head + k],
                    angles[static_cast<std::size_t>(k)],
                    angles[static_cast<std::size_t>(of_head + k)]);
        }
      }
      for_each_isa([&](const simd::ModelKernels& kernels, const simd::Kernels&) {
        std::vector<TypeParam> turned = x;
        kernels.rotate({angles.data(), 0, of_head, turned.data(), stride, 2,
                        data_type_of<TypeParam>, interleaved});
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_TRUE(turned[i] == expected[i] || (is_nan(turned[i]) && is_nan(expected[i])));
      });
    }
  }
}

TEST(RotaryInverse, ReturnsEachChannelWithinItsBound) {
  constexpr std::int64_t d = 128, count = 500;
  for (const RotaryLayout channels : {RotaryLayout::halves, RotaryLayout::interleaved}) {
    const Rotary rotary(d, 10000.0, channels);
    std::vector<float> x = random_floats(count * d);
    const std::vector<float> before = x;
    const HeadsView view = heads_first(x.data(), 1, 1, count, d);
    rotary.apply(view, -100);
    rotary.apply(view, -100, {.inverse = true});
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t k = 0; k < d / 2; ++k) {
        const bool interleaved = channels == RotaryLayout::interleaved;
        const auto i = static_cast<std::size_t>(r * d + (interleaved ? 2 * k : k)),
                   j = interleaved ? i + 1 : i + static_cast<std::size_t>(d) / 2;
        const double most = 0x1p-21 * std::hypot(before[i], before[j]);
        ASSERT_NEAR(x[i], before[i], most);
        ASSERT_NEAR(x[j], before[j], most);
      }
    }
  }
}

TEST(RotaryPositions, OnSeveralAxesTurnEachPairByItsAxis) {
  constexpr std::int64_t d = 64, count = 130;
  const Rotary rotary(
      {.angles = axes_in_sections(std::vector<std::int64_t>{8, 12, 12}, {.d_model = d})});
  const Rotary of_one_axis(d);
  const auto turned = [&](const Rotary& by, const RowPositions& positions) {
    std::vector<float> x = random_floats(count * d);
    by.apply(heads_first(x.data(), 1, 1, count, d), positions, {.threads = 2});
    return x;
  };
  const std::int64_t sizes[] = {1, 10, 13}, firsts[] = {20, 20, 20};
  const std::vector<std::int64_t> image = grid_positions(sizes, firsts);
  const std::vector<float> x = turned(rotary, {image.data(), 3, count, count});
  std::int64_t wrong = 0;
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const std::vector<float> expected =
        turned(of_one_axis, {image.data() + axis * count, 0, count, count});
    for (std::int64_t k = 0; k < d / 2; ++k) {
      if ((k < 8 ? 0 : k < 20 ? 1 : 2) != axis) continue;
      for (std::int64_t r = 0; r < count; ++r) {
        const auto i = static_cast<std::size_t>(r * d + k), j = i + std::size_t{d / 2};
        wrong += x[i] != expected[i] || x[j] != expected[j];
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  // Text alone is turned as by one axis.
  EXPECT_EQ(turned(rotary, RowRange{7, count}), turned(of_one_axis, RowRange{7, count}));
}

TEST(RotaryHeads, MayBeNone) {
  const Rotary rotary(dimension);
  const std::vector<std::int64_t> none;
  rotary.apply(heads_first<float>(nullptr, 0, 3, 5, 6));
  rotary.apply(heads_first<float>(nullptr, 2, 0, 5, 6));
  rotary.apply(HeadsView(static_cast<float*>(nullptr),
                         {.batch = INT64_MAX, .heads = 0, .rows = max_position, .columns = 6}));
  rotary.apply(heads_first<Float16>(nullptr, 2, 3, 0, 6), none);
  rotary.apply(std::span<const HeadsView>(), RowRange{0, 5});
  rotary.apply(rows_first<float>(nullptr, 0, 1, 0, 6), RowRange{0, 1}, {.inverse = true});
}

TEST(RotaryHeads, AreRefusedWithTheirReasonAndUnchanged) {
  const Rotary rotary(dimension);
  const Rotary on_axes(
      {.angles = axes_in_sections(std::vector<std::int64_t>{1, 1, 1}, {.d_model = dimension})});
  std::vector<float> memory(2 * 3 * 4 * 6, 1.0f);
  std::vector<double> doubles(memory.size());
  const HeadsView x = heads_first(memory.data(), 2, 3, 4, 6);
  const auto with = [&](std::int64_t HeadsView::*member, std::int64_t value) {
    return [=, &rotary] {
      HeadsView changed = x;
      changed.*member = value;
      rotary.apply(changed);
    };
  };
  const std::vector<std::int64_t> few(3), all(8),
      far = {0, 1, max_position + 1, 3},
      far_on_one = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -max_position - 1};
  const auto with_second = [&](const HeadsView& second) {
    return [=, &rotary, all = std::vector{x, second}] { rotary.apply(all, RowRange{0, 4}); };
  };
  expect_refused({
      {"x has -1 sequences; allowed", with(&HeadsView::batch, -1)},
      {"x has -2 heads; allowed", with(&HeadsView::heads, -2)},
      {"row count is -3; allowed", with(&HeadsView::rows, -3)},
      {"x has 5 columns; allowed", with(&HeadsView::columns, 5)},
      {"head_stride 23", with(&HeadsView::head_stride, 23)},
      {"row_stride 0", with(&HeadsView::row_stride, 0)},
      {"batch_stride -72", with(&HeadsView::batch_stride, -72)},
      {"2^63 - 1", with(&HeadsView::batch_stride, INT64_MAX / 2)},
      {"x has no memory", [&] { rotary.apply(heads_first<float>(nullptr, 2, 3, 4, 6)); }},
      {"x.type is float64; allowed: float32, float16, bfloat16",
       [&] { rotary.apply(heads_first(doubles.data(), 2, 3, 4, 6)); }},
      {"positions has 3 rows; allowed: 4, or 4 for each of 2 sequences",
       [&] { rotary.apply(x, few); }},
      {"9007199254740993", [&] { rotary.apply(x, far); }},
      {"is -9007", [&] { rotary.apply(x, -max_position - 1); }},
      {"position", [&] { rotary.apply(x, max_position - 2); }},
      {"threads is 0", [&] { rotary.apply(x, 0, {.threads = 0}); }},
      {"2 axes", [&] { rotary.apply(x, RowPositions(all.data(), 2, 4, 4)); }},
      {"2 axes", [&] { on_axes.apply(x, RowPositions(all.data(), 2, 4, 4)); }},
      {"-9007199254740993", [&] { on_axes.apply(x, RowPositions(far_on_one.data(), 3, 4, 4)); }},
      {"x[1] has 1 sequences of 4 rows; allowed: as many as x[0], 2 of 4",
       with_second(heads_first(memory.data() + 72, 1, 3, 4, 6))},
      {"x[1] has the memory of x[0]", with_second(heads_first(memory.data(), 2, 1, 4, 6))},
  });
  EXPECT_EQ(memory, std::vector<float>(memory.size(), 1.0f));
}

TEST(Rotary, IsMadeOfItsSpec) {
  const RotarySpec spec = {.angles = axes_in_blocks(std::vector<std::int64_t>{4, 2}, {.base = 256}),
                           .channels = RotaryLayout::interleaved,
                           .attention_factor = 0.5};
  EXPECT_EQ(Rotary(spec).spec(), spec);
  const Rotary yarn(64, 1e4, RotaryLayout::halves, YarnScaling{.factor = 40});
  EXPECT_EQ(yarn.spec().attention_factor, attention_factor(YarnScaling{.factor = 40}));
  EXPECT_EQ(yarn.spec().dimension(), 64);
  std::vector<float> x = random_floats(64 * 3), y = x;
  yarn.apply(heads_first(x.data(), 1, 1, 3, 64), 1000);
  Rotary(yarn.spec()).apply(heads_first(y.data(), 1, 1, 3, 64), 1000);
  EXPECT_EQ(x, y);
  for (const double factor : {0.0, -1.0, 0x1p21, std::nan("")}) {
    expect_refused({{"attention_factor is ",
                     [&] { Rotary({.angles = spec.angles, .attention_factor = factor}); }}});
  }
  expect_refused({
      {"0 channels", [] { Rotary(RotarySpec{}); }},
      {"d_model is 5", [] { Rotary(5); }},
      {"base is 1", [] { Rotary(4, 1.0); }},
      {"factor is 0", [] { Rotary(4, 1e4, RotaryLayout::halves, NtkScaling{0}); }},
  });
}

}  // namespace
}  // namespace posenc::test
