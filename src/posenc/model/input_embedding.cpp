#include "posenc/model/input_embedding.h"

#include "posenc/model/internal/add_encoding.h"
#include "posenc/model/internal/checks.h"
#include "posenc/model/internal/dropout_rule.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

Matrix zeros(std::int64_t vocabulary, std::int64_t d_model) {
  if (vocabulary < 1)
    throw InvalidArgument(format_text("vocabulary is {}; allowed: at least 1", vocabulary));
  if (d_model < 1 || d_model > max_d_model) {
    throw InvalidArgument(format_text("d_model is {}; allowed: 1 to {}", d_model, max_d_model));
  }
  Matrix weights(vocabulary, d_model);
  std::fill_n(weights.data(), vocabulary * d_model, 0.0f);
  return weights;
}

MatrixView<const float> checked(MatrixView<const float> weights) {
  if (weights.rows < 1)
    throw InvalidArgument(format_text("weights have {} rows; allowed: at least 1", weights.rows));
  if (weights.columns < 1 || weights.columns > max_d_model) {
    throw InvalidArgument(
        format_text("weights have {} columns; allowed: 1 to {}", weights.columns, max_d_model));
  }
  check_matrix("weights", weights);
  return weights;
}

float root(std::int64_t d_model) {
  return static_cast<float>(std::sqrt(static_cast<double>(d_model)));
}

void check_ids(TokenIds ids, const SequenceView<float>& y, std::int64_t vocabulary) {
  for (std::int64_t i = 0; i < ids.count(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocabulary) continue;
    const bool batch_first = y.order == BatchOrder::batch_first;
    throw InvalidArgument(
        format_text("id is {} at sequence {}, row {}; allowed: 0 to {}, the vocabulary has {} rows",
                    ids[i], batch_first ? i / y.rows : i % y.batch,
                    batch_first ? i % y.rows : i / y.batch, vocabulary - 1, vocabulary));
  }
}

bool is_non_temporal(StorePolicy policy, const SequenceView<float>& y) {
  return is_non_temporal(policy, y.batch * y.rows * y.columns * std::int64_t{sizeof(float)});
}

}  // namespace

InputEmbedding::InputEmbedding(std::int64_t vocabulary, std::int64_t d_model)
    : own_(zeros(vocabulary, d_model)),
      view_{own_.data(), vocabulary, d_model, d_model},
      scale_(root(d_model)) {}

InputEmbedding::InputEmbedding(MatrixView<const float> weights)
    : view_(checked(weights)), scale_(root(weights.columns)) {}

void InputEmbedding::check(TokenIds ids, const SequenceView<float>& y, int threads) const {
  check_threads(threads);
  const Memory memory = check_sequences("output", y, d_model());
  if (ids.count() != y.batch * y.rows) {
    throw InvalidArgument(
        format_text("ids are {}; allowed: one for each row of the output, {} x {}", ids.count(),
                    y.batch, y.rows));
  }
  check_disjoint("output", memory, "the ids", memory_of(ids.bytes()));
  check_disjoint("output", memory, "the weights", check_matrix("weights", view_));
  check_ids(ids, y, vocabulary());
}

void InputEmbedding::forward(TokenIds ids, const SequenceView<float>& y,
                             EncodeOptions options) const {
  check(ids, y, options.threads);
  add_table({}, {InputRows(view_, ids, y), scale_, y, nullptr, is_non_temporal(options.stores, y),
                 options.threads});
}

void InputEmbedding::forward(TokenIds ids, const PositionalEncoding& encoding,
                             const SequenceView<float>& y, const ForwardOptions& options) const {
  if (encoding.spec().d_model != d_model()) {
    throw InvalidArgument(format_text("encoding has d_model {}; allowed: that of the embedding, {}",
                                      encoding.spec().d_model, d_model()));
  }
  check(ids, y, options.threads);
  encoding.check_rows(y.rows, options.offset);
  const auto rule = dropout_rule(encoding.dropout(), options.training, options.seed);
  encoding.add_to({InputRows(view_, ids, y), scale_, y, rule ? &*rule : nullptr,
                   is_non_temporal(options.stores, y), options.threads},
                  options.offset);
}

}  // namespace posenc
