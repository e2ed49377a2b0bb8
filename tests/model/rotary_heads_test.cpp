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
/// Elements from one head to the next: there is a gap between them.
constexpr std::int64_t pitch = columns + 2;

/// Elements of all heads of a row, of all rows of a head, of a sequence, and of a row of the batch.
constexpr std::int64_t of_row = heads * pitch, of_head_rows = rows * pitch,
                       of_sequence = rows * of_row, of_batch = batch * of_row;

/// Heads of shape (batch, heads, rows), (batch, rows, heads) and (rows, batch, heads).
constexpr HeadsShape orders[] = {{batch, heads, rows, columns, of_sequence, of_head_rows, pitch},
                                 {batch, heads, rows, columns, of_sequence, pitch, of_row},
                                 {batch, heads, rows, columns, of_row, pitch, of_batch}};

template <class T>
std::vector<T> random_elements(std::int64_t count) {
  std::vector<T> elements;
  for (const float each : random_floats(count))
    elements.push_back(nearest<T>(static_cast<double>(each)));
  return elements;
}

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
void turn_plainly(const HeadsView& x, const RotarySpec& spec, bool inverse,
                  const RowPositions& positions) {
  AxesSpec angles = spec.angles;
  angles.layout = Layout::halves_cos_first;
  Matrix table(positions.count(), dimension);
  AxesEncoder(angles).encode(positions, table.view());
  const bool own = positions.count() == batch * rows;
  const bool interleaved = spec.channels == RotaryLayout::interleaved;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t r = 0; r < rows; ++r) {
        T* const data =
            static_cast<T*>(x.data) + b * x.batch_stride + h * x.head_stride + r * x.row_stride;
        for (std::int64_t k = 0; k < dimension / 2; ++k) {
          const auto of_table = [&](std::int64_t column) {
            const auto value = static_cast<double>(table(own ? b * rows + r : r, column));
            return static_cast<float>(value * spec.attention_factor);
          };
          const float sine = of_table(dimension / 2 + k);
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
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < 3 * rows; ++i)
    list.push_back(i % 3 == 0 ? i * i - 1000 : 100'000 - 3 * i);
  const AxesSpec one = one_axis({.d_model = dimension}),
                 three = axes_in_sections({1, 1, 1}, {.d_model = dimension});
  for (const auto& [angles, positions] : {
           std::pair(one, RowPositions(list.data(), 0, rows, 0)),
           {one, {list.data(), 0, batch * rows, 0}},  // each sequence has its own
           {three, {list.data(), 3, rows, rows}},
           {three, RowRange{7, rows}},  // text
       }) {
    for (const HeadsShape& order : orders) {
      for (const RotaryLayout channels : {RotaryLayout::halves, RotaryLayout::interleaved}) {
        for (const auto& [inverse, factor] : {std::tuple(false, 1.0), {true, 1.0}, {true, 1.25}}) {
          const RotarySpec spec = {
              .angles = angles, .channels = channels, .attention_factor = factor};
          auto x = random_elements<TypeParam>(batch * of_sequence), expected = x;
          Rotary(spec).apply({x.data(), order}, positions, {.inverse = inverse, .threads = 3});
          turn_plainly<TypeParam>({expected.data(), order}, spec, inverse, positions);
          EXPECT_TRUE(x == expected) << "head_stride " << order.head_stride;
        }
      }
    }
  }
}

TYPED_TEST(RotaryHeads, OfSeveralTensorsAreTurnedAsEachAlone) {
  // Queries, keys and values of a row are one behind the other; values are not turned.
  constexpr std::int64_t of_keys = 1, row = (heads + 2 * of_keys) * columns;
  auto together = random_elements<TypeParam>(batch * rows * row), apart = together;
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
    const auto angles = random_floats(2 * of_head, 2);
    for (const bool interleaved : {false, true}) {
      auto x = random_elements<TypeParam>(2 * stride);
      if constexpr (sizeof(TypeParam) == 2) {
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
  const Rotary on_axes({.angles = axes_in_sections({1, 1, 1}, {.d_model = dimension})});
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
  const RotarySpec spec = {.angles = axes_in_blocks({4, 2}, {.base = 256}),
                           .channels = RotaryLayout::interleaved,
                           .attention_factor = 0.5};
  EXPECT_EQ(Rotary(spec).spec(), spec);
  const Rotary yarn(64, 1e4, RotaryLayout::interleaved, YarnScaling{.factor = 40});
  EXPECT_EQ(yarn.spec(), rotary_spec({.d_model = 64, .frequencies = YarnScaling{.factor = 40}},
                                     RotaryLayout::interleaved));
  EXPECT_EQ(yarn.attention_factor(), attention_factor(YarnScaling{.factor = 40}));
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
