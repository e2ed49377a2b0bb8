#include "posenc/model/input_embedding.h"

#include "posenc/model/internal/checks.h"
#include "posenc/spec.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace posenc {
namespace {

/// The sequence and the row of an id.
std::pair<std::int64_t, std::int64_t> place_of(std::int64_t i, const SequenceView<float>& y) {
  if (y.order == BatchOrder::batch_first) return {i / y.rows, i % y.rows};
  return {i % y.batch, i / y.batch};
}

}  // namespace

InputEmbedding::InputEmbedding(MatrixView<const float> weights) : view_(weights) {
  check_range("vocabulary", vocabulary(), 1, max_position);
  check_range("d_model", d_model(), 1, max_d_model);
  check_memory("weights", InputView(weights));
  scale_ = static_cast<float>(std::sqrt(static_cast<double>(d_model())));
}

void InputEmbedding::forward(const IntegerView& ids, const SequenceView<float>& y,
                             int threads) const {
  check_threads(threads);
  check_equal("output", "columns", y.columns, "d_model", d_model());
  const Strided output = strided("output", AnySequences(y));
  check_memory(output);
  if (ids.count() != y.batch * y.rows) {
    throw InvalidArgument(
        format_text("ids are {}; allowed: one for each row of the output, {} x {}", ids.count(),
                    y.batch, y.rows));
  }
  check_apart(output, strided("ids", ids));
  check_apart(output, strided("weights", InputView(view_)));
  for (std::int64_t i = 0; i < ids.count(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocabulary()) continue;
    const auto [sequence, row] = place_of(i, y);
    throw InvalidArgument(
        format_text("id is {} at sequence {}, row {}; allowed: 0 to {}, the vocabulary has {} rows",
                    ids[i], sequence, row, vocabulary() - 1, vocabulary()));
  }
  parallel_for(ids.count(), rows_per_piece(d_model()), threads,
               [&](std::int64_t begin, std::int64_t end, int) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const auto [sequence, row] = place_of(i, y);
                   const float* const from = view_.data + ids[i] * view_.stride;
                   std::transform(from, from + d_model(),
                                  y.data + sequence * y.batch_stride + row * y.row_stride,
                                  [this](float weight) { return weight * scale_; });
                 }
               });
}

}  // namespace posenc
