#include "posenc/model/input_embedding.h"

#include "posenc/model/internal/add_encoding.h"
#include "posenc/model/internal/checks.h"

#include <cmath>

namespace posenc {
namespace {

void check_ids(const IntegerView& ids, const SequenceView<float>& y, std::int64_t vocabulary) {
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

InputEmbedding::InputEmbedding(MatrixView<const float> weights) : view_(weights) {
  check_range("vocabulary", vocabulary(), 1, max_position);
  check_range("d_model", d_model(), 1, max_d_model);
  check_memory("weights", InputView(weights));
  scale_ = static_cast<float>(std::sqrt(static_cast<double>(d_model())));
}

void InputEmbedding::check(const IntegerView& ids, const SequenceView<float>& y,
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
  check_ids(ids, y, vocabulary());
}

void InputEmbedding::forward(const IntegerView& ids, const SequenceView<float>& y,
                             EncodeOptions options) const {
  check(ids, y, options.threads);
  add_table({}, {InputRows(view_, ids, y), scale_, y, nullptr, 0,
                 is_non_temporal(options.stores, y), options.threads});
}

void InputEmbedding::forward(const IntegerView& ids, const PositionalEncoding& encoding,
                             const SequenceView<float>& y, const ForwardOptions& options) const {
  check_equal("encoding", "channels", encoding.spec().d_model, "d_model", d_model());
  check(ids, y, options.threads);
  encoding.check_rows(y.rows, options.offset);
  encoding.add_to({InputRows(view_, ids, y), scale_, y, encoding.dropout_of(options), options.seed,
                   is_non_temporal(options.stores, y), options.threads},
                  options.offset);
}

}  // namespace posenc
