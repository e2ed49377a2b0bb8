// Lookup and scaling.
#include "posenc/model/input_embedding.h"

#include "model/layer_support.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace posenc::test {
namespace {

constexpr std::int64_t vocabulary = 101;

template <class Id>
std::vector<Id> some_ids(std::int64_t count) {
  std::vector<Id> ids;
  for (std::int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<Id>((i * 37 + i * i) % vocabulary));
  return ids;
}

using Parameters = std::tuple<std::int64_t, BatchOrder>;

class Embedding : public testing::TestWithParam<Parameters> {
 protected:
  static constexpr std::int64_t batch = 3, rows = 50;

  std::int64_t d_model() const { return std::get<0>(GetParam()); }
  BatchOrder order() const { return std::get<1>(GetParam()); }
  Sequences sequences() const { return Sequences(order(), batch, rows, d_model(), d_model() % 5); }

  /// Unaligned weights, with a row stride above their width.
  MatrixView<const float> weights() const {
    return {memory_.data() + 1, vocabulary, d_model(), d_model() + 3};
  }

 private:
  std::vector<float> memory_ = random_floats(vocabulary * (std::get<0>(GetParam()) + 3) + 1, 9);
};

TEST_P(Embedding, IsScaledLookup) {
  const InputEmbedding embedding(weights());
  const auto ids = some_ids<std::int32_t>(batch * rows);
  const std::vector<std::int64_t> wide_ids(ids.begin(), ids.end());
  const auto root = static_cast<float>(std::sqrt(static_cast<double>(d_model())));
  for (const int threads : {1, 2, 7}) {
    Sequences narrow = sequences(), wide = sequences();
    embedding.forward(ids, narrow.view(), threads);
    embedding.forward(wide_ids, wide.view(), threads);
    std::int64_t wrong = 0;
    narrow.each([&](auto b, auto r, auto c) {
      const std::int32_t id = ids[narrow.index(b, r, 0) / static_cast<std::uint64_t>(d_model())];
      wrong += narrow.at(b, r, c) != weights().data[id * weights().stride + c] * root;
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(same_bits(narrow.memory(), wide.memory()));
    EXPECT_TRUE(narrow.gaps_untouched());
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Embedding,
                         testing::Combine(testing::Values(2, 6, 64, 130, 512),
                                          testing::Values(BatchOrder::batch_first,
                                                          BatchOrder::sequence_first)),
                         [](const auto& each) {
                           return std::to_string(std::get<0>(each.param)) + "_" +
                                  name_of(std::get<1>(each.param));
                         });

TEST(InputEmbedding, AcceptsZeroIds) {
  const std::vector<float> weights(12);
  const InputEmbedding embedding({weights.data(), 3, 4, 4});
  embedding.forward(std::vector<std::int32_t>{}, batch_first<float>(nullptr, 0, 7, 4));
  embedding.forward(std::vector<std::int64_t>{}, sequence_first<float>(nullptr, 0, 2, 4));
}

TEST(InputEmbedding, NamesAnIdOutOfRange) {
  const std::vector<float> weights(200);
  const InputEmbedding embedding({weights.data(), 50, 4, 4});
  const std::vector<float> before(24, 7.0f);
  std::vector<float> y = before;
  const std::vector<std::int32_t> ids = {0, 1, 2, 3, 50, 5};
  const std::vector<std::int64_t> wide = {0, -1, std::int64_t{1} << 32, 3, 4, 5};
  const auto by_batch = batch_first(y.data(), 2, 3, 4), by_rows = sequence_first(y.data(), 3, 2, 4);
  expect_refused({
      {"id is 50 at sequence 1, row 1; allowed: 0 to 49, the vocabulary has 50 rows",
       [&] { embedding.forward(ids, by_batch); }},
      {"id is 50 at sequence 0, row 2;", [&] { embedding.forward(ids, by_rows); }},
      {"id is -1 at sequence 0, row 1", [&] { embedding.forward(wide, by_batch); }},
  });
  EXPECT_EQ(y, before);
}

TEST(InputEmbedding, RefusesInvalidArguments) {
  std::vector<float> memory(64, 1.0f);
  const InputEmbedding embedding({memory.data(), 4, 4, 4});
  const std::vector<std::int32_t> ids = {0, 1};
  const auto at = [&](std::int64_t begin, std::int64_t rows, std::int64_t columns = 4) {
    return batch_first(memory.data() + begin, 1, rows, columns);
  };
  const auto of = [](const float* data, std::int64_t rows, std::int64_t columns,
                     std::int64_t stride = 4) {
    return [=] { InputEmbedding(MatrixView<const float>{data, rows, columns, stride}); };
  };
  expect_refused({
      {"weights has stride 3; allowed: at least", of(memory.data(), 4, 4, 3)},
      {"weights has no memory", of(nullptr, 4, 4)},
      {"vocabulary is 0; allowed: 1 to", of(memory.data(), 0, 4)},
      {"d_model is 0", of(memory.data(), 4, 0)},
      {"ids are 2; allowed: one for each row of the output, 1 x 3",
       [&] { embedding.forward(ids, at(16, 3)); }},
      {"output overlaps weights", [&] { embedding.forward(ids, at(12, 2)); }},
      {"output has 6 columns; allowed: d_model, 4", [&] { embedding.forward(ids, at(16, 2, 6)); }},
  });
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 1.0f), 64);
}

}  // namespace
}  // namespace posenc::test
