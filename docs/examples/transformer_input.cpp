// The input of a Transformer and its output, from tokens to probabilities, on a table small enough
// to read:
//
//   tokens -> embedding * sqrt(d_model) -> + positional encoding -> dropout
//          -> output projection with the same embedding matrix ("tied") -> softmax
//
// The encoder and decoder layers would stand between dropout and the projection. Vaswani et al.,
// "Attention Is All You Need", sections 3.4 and 3.5. transformer_input.py is the same in PyTorch.
//
// The program prints each step, compares it with the numbers that PyTorch prints for the same
// weights, and exits with 1 if one differs.
#include <posenc/model/positional_encoding.h>
#include <posenc/posenc.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::int64_t vocabulary = 5, d_model = 4, batch = 2, rows = 3;

/// A matrix of shape (vocabulary, d_model). A real one is learned.
posenc::Matrix embedding_matrix() {
  posenc::Matrix matrix(vocabulary, d_model);
  for (std::int64_t i = 0; i < vocabulary * d_model; ++i)
    matrix.data()[i] = static_cast<float>(i * 7 % 11 - 5) / 10;
  return matrix;
}

/// Row `token` of the matrix for each token, times sqrt(d_model): shape (batch * rows, d_model).
posenc::Matrix embedded(const posenc::Matrix& matrix, const std::vector<std::int64_t>& tokens) {
  const float scale = std::sqrt(static_cast<float>(d_model));
  posenc::Matrix x(static_cast<std::int64_t>(tokens.size()), d_model);
  for (std::int64_t row = 0; row < x.rows(); ++row) {
    for (std::int64_t channel = 0; channel < d_model; ++channel)
      x(row, channel) = matrix(tokens[static_cast<std::size_t>(row)], channel) * scale;
  }
  return x;
}

/// x times the transposed embedding matrix: one logit for each word, shape (batch * rows,
/// vocabulary).
posenc::Matrix projected(const posenc::Matrix& x, const posenc::Matrix& matrix) {
  posenc::Matrix logits(x.rows(), matrix.rows());
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    for (std::int64_t word = 0; word < logits.columns(); ++word) {
      float sum = 0;
      for (std::int64_t channel = 0; channel < d_model; ++channel)
        sum += x(row, channel) * matrix(word, channel);
      logits(row, word) = sum;  // a new Matrix holds arbitrary values
    }
  }
  return logits;
}

/// Makes each row of logits a distribution over the words.
void softmax(posenc::Matrix& logits) {
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    const auto values = logits.row(row);
    const float largest = *std::max_element(values.begin(), values.end());
    float sum = 0;
    for (float& value : values) sum += value = std::exp(value - largest);
    for (float& value : values) value /= sum;
  }
}

/// Prints the first `count` rows as PyTorch prints a tensor, and returns whether its first row of
/// sequence 0 and its last row of all are the expected ones to four decimals.
bool shown(const char* name, const char* shape, const posenc::Matrix& values, std::int64_t count,
           const std::vector<float>& expected) {
  std::printf("%s, shape %s\n", name, shape);
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t column = 0; column < values.columns(); ++column) {
      std::printf("%s%7.4f", column == 0 ? (row == 0 ? "[[" : " [") : ", ",
                  static_cast<double>(values(row, column)));
    }
    std::puts(row + 1 == count ? "]]" : "],");
  }
  bool is_right = static_cast<std::int64_t>(expected.size()) == count * values.columns();
  for (std::size_t i = 0; i < expected.size() && is_right; ++i)
    is_right = std::fabs(values.data()[i] - expected[i]) <= 5.1e-5F;
  std::puts(is_right ? "" : "This is not what PyTorch prints.\n");
  return is_right;
}

}  // namespace

int main() {
  bool is_right = true;

  // The table itself: 3 positions of 4 channels.
  const posenc::Matrix table = posenc::encode(rows, d_model);
  is_right &= shown("positional encoding", "(3, 4)", table, rows,
                    {0.0000F, 1.0000F, 0.0000F, 1.0000F,     //
                     0.8415F, 0.5403F, 0.0100F, 0.9999F,     //
                     0.9093F, -0.4161F, 0.0200F, 0.9998F});  //

  // Two sequences of three tokens.
  const posenc::Matrix matrix = embedding_matrix();
  posenc::Matrix x = embedded(matrix, {0, 3, 1, 4, 4, 2});
  is_right &= shown("embedding * sqrt(d_model), sequence 0", "(2, 3, 4)", x, rows,
                    {-1.0000F, 0.4000F, -0.4000F, 1.0000F,  //
                     0.4000F, -0.4000F, 1.0000F, 0.2000F,   //
                     0.2000F, -0.6000F, 0.8000F, 0.0000F});

  // In inference, dropout is the identity.
  const posenc::model::PositionalEncoding encoding({.d_model = d_model}, /*max_rows=*/5000,
                                                   /*dropout=*/0.1);
  encoding.forward(posenc::model::batch_first(x.data(), batch, rows, d_model));
  is_right &= shown("+ positional encoding, sequence 0", "(2, 3, 4)", x, rows,
                    {-1.0000F, 1.4000F, -0.4000F, 2.0000F,  //
                     1.2415F, 0.1403F, 1.0100F, 1.1999F,    //
                     1.1093F, -1.0161F, 0.8200F, 0.9998F});

  posenc::Matrix probabilities = projected(x, matrix);
  is_right &= shown("logits of the tied projection, sequence 0", "(2, 3, 5)", probabilities, rows,
                    {1.8600F, -0.6800F, -0.1400F, -0.4800F, 0.0600F,  //
                     -0.1947F, 0.4861F, -1.1555F, 0.8452F, -0.7963F,  //
                     -0.4220F, 0.7438F, -1.3305F, 0.9351F, -1.1392F});
  softmax(probabilities);
  is_right &= shown("softmax, sequence 0", "(2, 3, 5)", probabilities, rows,
                    {0.6776F, 0.0534F, 0.0917F, 0.0653F, 0.1120F,  //
                     0.1485F, 0.2933F, 0.0568F, 0.4201F, 0.0814F,  //
                     0.1113F, 0.3571F, 0.0449F, 0.4324F, 0.0543F});

  // In training, a tenth of the entries becomes 0, and the others grow by 1 / 0.9. The mask is a
  // function of the seed: the backward pass computes it again.
  const posenc::model::PositionalEncoding wide({.d_model = 512}, 5000, 0.1);
  posenc::Matrix ones(5000, 512);
  std::fill_n(ones.data(), 5000 * 512, 2.0F);  // 2 + PE is never 0
  wide.forward(posenc::model::batch_first(ones.data(), 1, 5000, 512),
               {.training = true, .seed = 7});
  const auto dropped = std::count(ones.data(), ones.data() + 5000 * 512, 0.0F);
  const posenc::Matrix full_table = posenc::encode(5000, 512);
  for (std::int64_t i = 0; i < 5000 * 512; ++i) {
    const float kept = (2.0F + full_table.data()[i]) * wide.dropout().scale();
    is_right &= ones.data()[i] == 0 || ones.data()[i] == kept;
  }
  std::printf("dropout 0.1 of 5000 x 512 entries: %.3f of them are 0\n",
              static_cast<double>(dropped) / (5000 * 512));
  is_right &= std::fabs(static_cast<double>(dropped) / (5000 * 512) - 0.1) < 1e-3;
  return is_right ? 0 : 1;
}
