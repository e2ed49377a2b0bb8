// y = dropout(x + PE), in both batch orders, in place and out of place, from both sources.
#include "posenc/model/positional_encoding.h"

#include "model/layer_support.h"
#include "posenc/registry.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

constexpr EncodingSource sources[] = {EncodingSource::automatic, EncodingSource::fused,
                                      EncodingSource::cached};

struct Shape {
  std::int64_t batch, rows, d_model, gap;

  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.batch << "x" << shape.rows << "x" << shape.d_model;
  }
};

// One row, widths that are not a multiple of a vector, more rows than a block, gaps, batches.
constexpr Shape shapes[] = {{1, 1, 2, 0},     {1, 5, 4, 0},   {3, 7, 6, 0},    {2, 20, 20, 3},
                            {1, 600, 64, 0},  {8, 33, 96, 0}, {2, 70, 512, 1}, {5, 1, 128, 0},
                            {1, 40, 1026, 0}, {4, 3, 4098, 6}};

using Parameters = std::tuple<Shape, BatchOrder, EncodingSource>;

class Forward : public testing::TestWithParam<Parameters> {
 protected:
  static constexpr std::int64_t offset = 1000;

  Shape shape() const { return std::get<0>(GetParam()); }
  EncodingSpec spec() const { return {.d_model = shape().d_model}; }
  Sequences sequences() const {
    return Sequences(std::get<1>(GetParam()), shape().batch, shape().rows, shape().d_model,
                     shape().gap);
  }
  PositionalEncoding layer(double dropout = 0) const {
    return {spec(), 2000, dropout, std::get<2>(GetParam())};
  }

  /// The correctly rounded encodings.
  Matrix table() const {
    return encoded(*backend("rotation").plan(spec()), {offset, shape().rows});
  }
};

TEST_P(Forward, RoundsTheSumOnce) {
  Sequences x = sequences();
  x.fill();
  const Sequences before = x;
  layer().forward(x.view(), {.offset = offset});
  const Matrix exact = table();
  std::int64_t wrong = 0;
  x.each([&](auto b, auto r, auto c) {
    // Rounding the sum of two floats to double, and then to float, gives the float nearest to the
    // exact sum, since double has more than twice the precision of float.
    const auto in = static_cast<double>(before.at(b, r, c));
    wrong += x.at(b, r, c) != static_cast<float>(in + static_cast<double>(exact(r, c)));
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(x.gaps_untouched());
}

TEST_P(Forward, HasTheSameBitsOutOfPlaceByAnyStoresAndThreads) {
  Sequences x = sequences();
  x.fill();
  const PositionalEncoding with_dropout = layer(0.3);
  for (const bool training : {false, true}) {
    const ForwardOptions options = {.offset = offset, .training = training, .seed = 5};
    const Sequences before = x;
    Sequences in_place = x;
    with_dropout.forward(in_place.view(), options);
    for (const int threads : {1, 2, 3, 16}) {
      for (const StorePolicy stores : {StorePolicy::cached, StorePolicy::non_temporal}) {
        Sequences y = sequences();
        ForwardOptions shared = options;
        shared.threads = threads;
        shared.stores = stores;
        with_dropout.forward(x.view(), y.view(), shared);
        EXPECT_TRUE(same_bits(y.memory(), in_place.memory())) << threads << " threads";
      }
    }
    EXPECT_TRUE(same_bits(x.memory(), before.memory())) << "the input was written";
  }
}

TEST_P(Forward, AppliesTheMaskOfTheSeed) {
  Sequences plain = sequences();
  plain.fill();
  Sequences dropped = plain, back = plain;
  const Sequences gradient = plain;
  const PositionalEncoding with_dropout = layer(0.3);
  const ForwardOptions training = {.offset = offset, .training = true, .seed = 1234567890123};
  with_dropout.forward(plain.view(), {.offset = offset});
  with_dropout.forward(dropped.view(), training);
  with_dropout.backward(back.view(), training);
  const Dropout& dropout = with_dropout.dropout();
  std::int64_t wrong = 0;
  plain.each([&](auto b, auto r, auto c) {
    const bool keeps = dropout.keeps(*training.seed, plain.index(b, r, c));
    wrong += dropped.at(b, r, c) != (keeps ? plain.at(b, r, c) * dropout.scale() : 0.0f);
    wrong += back.at(b, r, c) != (keeps ? gradient.at(b, r, c) * dropout.scale() : 0.0f);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(dropped.gaps_untouched());
  EXPECT_TRUE(back.gaps_untouched());
}

std::string parameter_name(const testing::TestParamInfo<Parameters>& info) {
  const auto& [shape, order, source] = info.param;
  constexpr const char* orders[] = {"_batch_first_", "_sequence_first_"};
  constexpr const char* names[] = {"automatic", "fused", "cached"};
  return testing::PrintToString(shape) + orders[static_cast<int>(order)] +
         names[static_cast<int>(source)];
}

INSTANTIATE_TEST_SUITE_P(Layers, Forward,
                         testing::Combine(testing::ValuesIn(shapes),
                                          testing::Values(BatchOrder::batch_first,
                                                          BatchOrder::sequence_first),
                                          testing::ValuesIn(sources)),
                         parameter_name);

TEST(PositionalEncoding, PicksItsSourceByShape) {
  const PositionalEncoding small({.d_model = 64}, 64);
  EXPECT_EQ(small.source(1, 64), EncodingSource::cached);
  EXPECT_EQ(small.source(1 << 20, 64), EncodingSource::fused);
  EXPECT_EQ(PositionalEncoding({.d_model = 4096}, 1 << 20).source(1, 1), EncodingSource::fused);
  for (const EncodingSource source : {EncodingSource::fused, EncodingSource::cached})
    for (const std::int64_t batch : {1, 1 << 20})
      EXPECT_EQ(PositionalEncoding({.d_model = 64}, 64, 0, source).source(batch, 64), source);
}

TEST(PositionalEncoding, AcceptsTheLastPosition) {
  const PositionalEncoding far({.d_model = 8}, max_position + 1);
  std::vector<float> x(8, 0.0f);
  far.forward(batch_first(x.data(), 1, 1, 8), {.offset = max_position});
  const Matrix row = encoded(*backend("rotation").plan({.d_model = 8}), {max_position, 1});
  EXPECT_TRUE(same_bits(x, row.row(0)));
}

TEST(PositionalEncoding, AcceptsEmptyBatchesAndZeroRows) {
  const PositionalEncoding encoding({.d_model = 4}, 10);
  encoding.forward(batch_first<float>(nullptr, 0, 5, 4));
  encoding.forward(batch_first<float>(nullptr, 5, 0, 4));
  encoding.forward(sequence_first<float>(nullptr, 0, 0, 4), {.offset = 10, .threads = 4});
  encoding.backward(batch_first<float>(nullptr, 0, 5, 4), {.training = true});
  PositionalEncoding({.d_model = 4}, 0).forward(batch_first<float>(nullptr, 2, 0, 4));
}

TEST(PositionalEncoding, RefusesInvalidArguments) {
  const PositionalEncoding encoding({.d_model = 4}, 512);
  std::vector<float> memory(400, 1.0f);
  const auto x = batch_first(memory.data(), 2, 5, 4);
  const auto forward = [&](SequenceView<float> view, ForwardOptions options = {}) {
    return [=, &encoding] { encoding.forward(view, options); };
  };
  const auto strides = [&](std::int64_t batch_stride, std::int64_t row_stride) {
    SequenceView<float> view = x;
    view.batch_stride = batch_stride;
    view.row_stride = row_stride;
    return view;
  };
  expect_refused({
      {"d_model is 3", [] { PositionalEncoding({.d_model = 3}, 5); }},
      {"max_rows is -1", [] { PositionalEncoding({.d_model = 4}, -1); }},
      {"dropout is 1.5", [] { PositionalEncoding({.d_model = 4}, 5, 1.5); }},
      {"rows end at 520 (20 from offset 500); allowed: at most max_rows, 512",
       forward(batch_first(memory.data(), 1, 20, 4), {.offset = 500})},
      {"offset is 513; allowed: 0 to max_rows, 512", forward(x, {.offset = 513})},
      {"offset is -1", forward(x, {.offset = -1})},
      {"has 6 columns; allowed: d_model, 4", forward(batch_first(memory.data(), 2, 5, 6))},
      {"has no memory", forward(batch_first<float>(nullptr, 2, 5, 4))},
      {"has -2 sequences", forward(batch_first(memory.data(), -2, 5, 4))},
      {"has -5 rows", forward(batch_first(memory.data(), 2, -5, 4))},
      {"threads is 0", forward(x, {.threads = 0})},
      {"in at most 2^63 - 1 bytes", forward(strides(std::int64_t{1} << 62, 4))},
  });
  for (const auto& [batch_stride, row_stride] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {20, 3}, {0, 4}, {19, 4}, {4, 7}, {-20, 4}, {20, -4}, {1, 4}}) {
    expect_refused(
        {{"batch_stride " + std::to_string(batch_stride) + " of 2 sequences, row_stride " +
              std::to_string(row_stride) + " of 5 rows; allowed: strides that keep",
          forward(strides(batch_stride, row_stride))}});
  }
  EXPECT_EQ(memory, std::vector<float>(400, 1.0f));
}

TEST(PositionalEncoding, RefusesInvalidOutputs) {
  const PositionalEncoding encoding({.d_model = 4}, 512);
  std::vector<float> memory(400, 1.0f);
  std::vector<Float16> half(40);
  const auto x = batch_first(memory.data(), 2, 5, 4);
  const auto to = [&](const WritableSequences& y) {
    return [=, &encoding] { encoding.forward(x, y); };
  };
  float* const apart = memory.data() + 200;
  auto strided = x;
  strided.row_stride = 8;
  strided.batch_stride = 40;
  expect_refused({
      {"output has 2 sequences of 6 rows", to(batch_first(apart, 2, 6, 4))},
      {"output is sequence_first", to(sequence_first(apart, 5, 2, 4))},
      {"output.type is float16; allowed: that of the input, float32",
       to(batch_first(half.data(), 2, 5, 4))},
      {"output overlaps input, 48 bytes after", to(batch_first(memory.data() + 12, 2, 5, 4))},
      {"0 bytes after it; allowed: the same memory and strides, or memory apart", to(strided)},
  });
  EXPECT_EQ(memory, std::vector<float>(400, 1.0f));
  // The left and right halves of wider rows: their memory ranges overlap, but they share no
  // element.
  auto right = strided;
  right.data += 4;
  encoding.forward(strided, right);
  EXPECT_EQ(memory[0], 1.0f);
  EXPECT_EQ(memory[5], 2.0f);
  right.data -= 1;
  expect_refused({{"output overlaps input, 12 bytes", [&] { encoding.forward(strided, right); }}});
}

/// Whatever rows are added at once: those of position 64 are next to midpoints.
TEST(PositionalEncoding, AddsCorrectedEntries) {
  constexpr std::int64_t rows = 100, d_model = 512;
  const EncodingSpec spec = spec_near_midpoints(DataType::float32, d_model, 6);
  const Matrix expected = encoded(*backend("rotation").plan(spec), {0, rows});
  for (const EncodingSource source : sources) {
    Matrix sums(rows, d_model);
    std::fill_n(sums.data(), rows * d_model, 0.0F);
    PositionalEncoding(spec, rows, 0, source)
        .forward(batch_first(sums.data(), 1, rows, d_model), {});
    EXPECT_TRUE(same_bits(sums, expected));
  }
}

// CMake labels tests by the prefix "Threads" of their suite, and the preset tsan runs them.
TEST(ThreadsOfLayers, MayShareOneLayer) {
  constexpr std::int64_t rows = 100, d_model = 34;
  for (const EncodingSource source : {EncodingSource::fused, EncodingSource::cached}) {
    const PositionalEncoding encoding({.d_model = d_model}, rows, 0.2, source);
    const ForwardOptions options = {.training = true, .seed = 8};
    std::vector<float> expected(rows * d_model, 1.0f);
    encoding.forward(batch_first(expected.data(), 1, rows, d_model), options);
    std::vector<std::vector<float>> tensors(8, std::vector<float>(rows * d_model, 1.0f));
    {
      std::vector<JoiningThread> threads;
      for (auto& tensor : tensors) {
        threads.emplace_back(
            [&] { encoding.forward(batch_first(tensor.data(), 1, rows, d_model), options); });
      }
    }
    for (const auto& tensor : tensors) EXPECT_TRUE(same_bits(tensor, expected));
  }
}

}  // namespace
}  // namespace posenc::test
