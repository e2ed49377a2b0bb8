// Rotary embeddings: caches against the exact values rounded once, and relative positions.
#include "posenc/model/rotary.h"

#include "model/layer_support.h"
#include "posenc/suite/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace posenc {
namespace {

using test::random_floats;

constexpr RotaryLayout layouts[] = {RotaryLayout::halves, RotaryLayout::interleaved};

std::int64_t first_of(RotaryLayout layout, std::int64_t k) {
  return layout == RotaryLayout::halves ? k : 2 * k;
}
std::int64_t second_of(RotaryLayout layout, std::int64_t k, std::int64_t dimension) {
  return layout == RotaryLayout::halves ? dimension / 2 + k : 2 * k + 1;
}

/// The T nearest to a long double: rounds by way of double, then tries both neighbours. It does not
/// handle ties, which no sine or cosine gives.
template <class T>
T nearest_by_search(long double value) {
  T best = nearest<T>(static_cast<double>(value));
  for (const std::uint64_t step : {std::uint64_t(-1), std::uint64_t{1}}) {
    T other = best;
    if constexpr (std::is_same_v<T, float>) {
      other = std::bit_cast<float>(
          static_cast<std::uint32_t>(std::bit_cast<std::uint32_t>(best) + step));
    } else {
      other.bits = static_cast<std::uint16_t>(best.bits + step);
    }
    const auto distance = [value](T x) {
      return std::fabs(static_cast<long double>(to_double(x)) - value);
    };
    if (distance(other) < distance(best)) best = other;
  }
  return best;
}

template <class T>
class RotaryCache : public testing::Test {};
using Types = testing::Types<float, Float16, BFloat16>;
TYPED_TEST_SUITE(RotaryCache, Types);

TYPED_TEST(RotaryCache, HoldsTheNearestValues) {
  for (const std::int64_t dimension : {2, 6, 64, 130}) {
    const Rotary rotary(dimension);
    const Reference reference({.d_model = dimension});
    for (const RotaryLayout layout : layouts) {
      for (const std::int64_t first :
           {std::int64_t{0}, std::int64_t{5000}, std::int64_t{1} << 40}) {
        const std::int64_t rows = 40, stride = dimension + 3;
        std::vector<TypeParam> cache(static_cast<std::size_t>(rows * stride));
        rotary.cache(RowRange{first, rows}, layout,
                     MatrixView<TypeParam>{cache.data(), rows, dimension, stride}, 2);
        std::int64_t wrong = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t k = 0; k < dimension / 2; ++k) {
            const ReferencePair pair = reference(k, first + r);
            const auto at = [&](std::int64_t column) {
              return cache[static_cast<std::size_t>(r * stride + column)];
            };
            wrong += at(first_of(layout, k)) != nearest_by_search<TypeParam>(pair.cosine);
            wrong += at(second_of(layout, k, dimension)) != nearest_by_search<TypeParam>(pair.sine);
          }
          for (std::int64_t c = dimension; c < stride; ++c) {
            wrong += cache[static_cast<std::size_t>(r * stride + c)] != TypeParam{};
          }
        }
        EXPECT_EQ(wrong, 0) << "dimension " << dimension << " from " << first;
      }
    }
  }
}

// The purpose of rotary embeddings: the product of a query and a key depends only on the distance
// between their positions.
TEST(Rotary, MakesProductsDependOnDistanceAlone) {
  constexpr std::int64_t dimension = 64;
  const Rotary rotary(dimension);
  const auto q = random_floats(dimension, 1), k = random_floats(dimension, 2);
  const auto product = [&](std::int64_t query_position, std::int64_t key_position) {
    auto query = q, key = k;
    rotary.apply(batch_first(query.data(), 1, 1, dimension), query_position);
    rotary.apply(batch_first(key.data(), 1, 1, dimension), key_position);
    double sum = 0;
    for (std::size_t i = 0; i < query.size(); ++i)
      sum += static_cast<double>(query[i]) * static_cast<double>(key[i]);
    return sum;
  };
  EXPECT_NEAR(product(105, 100), product(5, 0), 2e-5);
  EXPECT_NEAR(product(1'000'000'005, 1'000'000'000), product(5, 0), 2e-5);
}

TEST(Rotary, RefusesInvalidArguments) {
  const Rotary rotary(4);
  std::vector<float> x(40, 1.0f);
  std::vector<Float16> half(40);
  const HeadsView heads = sequence_first(x.data(), 5, 2, 4);
  const MatrixView<BFloat16> nowhere = {nullptr, 2, 4, 4};
  const auto by = [&](MatrixView<const Float16> cache) {
    return [=, &rotary] { rotary.apply_cache({cache, RotaryLayout::halves}, heads); };
  };
  const auto cache = [&](RowRange rows) {
    return [=, &rotary] { rotary.cache(rows, RotaryLayout::halves, nowhere); };
  };
  test::expect_refused({
      {"d_model is 5", [] { Rotary(5); }},
      {"base is 1", [] { Rotary(4, 1.0); }},
      {"factor is 0", [] { Rotary(4, 1e4, RotaryLayout::halves, {}, NtkScaling{0}); }},
      {"x has 2 columns; allowed: at least the dimension, 4",
       [&] { rotary.apply(sequence_first(x.data(), 5, 2, 2)); }},
      {"is -9007", [&] { rotary.apply(heads, -max_position - 1); }},
      {"position", [&] { rotary.apply(heads, max_position - 3); }},
      {"threads is 0", [&] { rotary.apply(heads, 0, {.threads = 0}); }},
      {"cache has 4 rows; allowed: at least 5", by({half.data(), 4, 4, 4})},
      {"cache has 6 columns; allowed: this layout, 4", by({half.data(), 5, 6, 6})},
      {"cache has stride 3", by({half.data(), 5, 4, 3})},
      {"cache has no memory", by({nullptr, 5, 4, 4})},
      {"cache has no memory", cache({0, 2})},
      {"is -9007199254740993; allowed", cache({-max_position - 1, 2})},
  });
  EXPECT_EQ(x, std::vector<float>(40, 1.0f));
}

}  // namespace
}  // namespace posenc
