// Logits against a plain loop in double.
#include "posenc/model/tied_output.h"

#include "model/layer_support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace posenc {
namespace {

using test::GuardedMatrix;
using test::random_floats;

struct Shape {
  std::int64_t rows, d_model, vocabulary;
};

class Logits : public testing::TestWithParam<Shape> {};

TEST_P(Logits, MatchAPlainLoopInDouble) {
  const auto [rows, d_model, vocabulary] = GetParam();
  const auto weights = random_floats(vocabulary * (d_model + 1), 1),
             hidden = random_floats(rows * (d_model + 2), 2);
  const InputEmbedding embedding({weights.data(), vocabulary, d_model, d_model + 1});
  const TiedOutput output(embedding);
  for (const int threads : {1, 2, 5}) {
    GuardedMatrix logits(rows, vocabulary, vocabulary + 3, 1);
    output.logits({hidden.data(), rows, d_model, d_model + 2}, logits.view(), threads);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t v = 0; v < vocabulary; ++v) {
        double sum = 0, magnitude = 0;
        for (std::int64_t c = 0; c < d_model; ++c) {
          const double term =
              static_cast<double>(hidden[static_cast<std::size_t>(r * (d_model + 2) + c)]) *
              static_cast<double>(weights[static_cast<std::size_t>(v * (d_model + 1) + c)]);
          sum += term;
          magnitude += std::fabs(term);
        }
        // This bound holds for every order of summation.
        const double bound = static_cast<double>(d_model) * 0x1p-24 * 1.01 * magnitude;
        ASSERT_NEAR(logits.row(r)[static_cast<std::size_t>(v)], sum, bound) << r << ", " << v;
      }
    }
    EXPECT_TRUE(logits.surroundings_untouched());
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Logits,
                         testing::Values(Shape{1, 2, 1}, Shape{1, 64, 1000}, Shape{7, 20, 33},
                                         Shape{40, 130, 257}, Shape{3, 1024, 50}),
                         [](const auto& each) {
                           return std::to_string(each.param.rows) + "x" +
                                  std::to_string(each.param.d_model) + "_" +
                                  std::to_string(each.param.vocabulary);
                         });

TEST(TiedOutput, AcceptsZeroRows) {
  const std::vector<float> weights(12);
  const InputEmbedding embedding({weights.data(), 3, 4, 4});
  TiedOutput(embedding).logits({nullptr, 0, 4, 4}, {nullptr, 0, 3, 3});
}

TEST(TiedOutput, RefusesInvalidArguments) {
  const std::vector<float> weights(12);
  const InputEmbedding embedding({weights.data(), 3, 4, 4});
  const TiedOutput output(embedding);
  std::vector<float> x(8, 1.0f), logits(6, 1.0f);
  const auto call = [&](MatrixView<const float> in, MatrixView<float> out, int threads = 1) {
    return [=] { output.logits(in, out, threads); };
  };
  const MatrixView<const float> in = {x.data(), 2, 4, 4};
  const MatrixView<float> out = {logits.data(), 2, 3, 3};
  test::expect_refused({
      {"x has 3 columns; allowed: d_model, 4", call({x.data(), 2, 3, 4}, out)},
      {"logits has 2 columns; allowed: the vocabulary, 3", call(in, {logits.data(), 2, 2, 3})},
      {"logits has 1 rows; allowed: as many as x, 2", call(in, {logits.data(), 1, 3, 3})},
      {"x has stride 3", call({x.data(), 2, 4, 3}, out)},
      {"logits overlaps x", call(in, {x.data() + 1, 2, 3, 3})},
      {"threads is 0", call(in, out, 0)},
  });
  EXPECT_EQ(logits, std::vector<float>(6, 1.0f));
}

}  // namespace
}  // namespace posenc
