#include "posenc/model/positional_encoding.h"

#include "posenc/model/internal/add_encoding.h"
#include "posenc/model/internal/checks.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/caches.h"

namespace posenc::model {
namespace {

/// True if a table and `inputs` inputs of its size stay in the last-level cache. Computed in
/// double, so that no product overflows.
bool stay_in_cache(std::int64_t rows, std::int64_t columns, std::int64_t inputs) noexcept {
  const double bytes = 4.0 * static_cast<double>(columns) * static_cast<double>(rows) *
                       (static_cast<double>(inputs) + 1);
  return bytes <= static_cast<double>(known_cache_bytes(3));
}

SelectedEncoder plan(const EncodingSpec& spec, std::int64_t max_rows, const Accuracy& accuracy) {
  validate(spec);
  check_range("max_rows", max_rows, 0, max_position + 1);
  return plan_selected(spec, {0, max_rows}, {.accuracy = accuracy});
}

/// Throws unless the rows, which start at `offset`, are below max_rows.
void check_rows(std::int64_t rows, std::int64_t offset, std::int64_t max_rows) {
  if (offset < 0 || offset > max_rows)
    throw_invalid("offset is {}; allowed: 0 to max_rows, {}", offset, max_rows);
  if (rows > max_rows - offset) {
    throw_invalid("rows end at {} ({} from offset {}); allowed: at most max_rows, {}",
                  static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(rows), rows,
                  offset, max_rows);
  }
}

/// A forgotten seed would drop the same elements in every step.
void check_seed(const Dropout* dropout, const ForwardOptions& options) {
  if (dropout != nullptr && !options.seed)
    throw InvalidArgument("seed is not given; allowed with dropout: a new one for every step");
}

std::string_view order_name(BatchOrder order) noexcept {
  return order == BatchOrder::batch_first ? "batch_first" : "sequence_first";
}

}  // namespace

PositionalEncoding::PositionalEncoding(const EncodingSpec& spec, std::int64_t max_rows,
                                       double dropout, EncodingSource source,
                                       const Accuracy& accuracy)
    : selected_(plan(spec, max_rows, accuracy)),
      max_rows_(max_rows),
      dropout_(dropout),
      source_(source) {
  if (source == EncodingSource::automatic && !stay_in_cache(max_rows, spec.d_model, 1))
    source_ = EncodingSource::fused;
  if (source_ == EncodingSource::fused) return;
  table_ = Matrix(max_rows, spec.d_model);
  encoder().encode({.first = 0, .count = max_rows}, table_.view());
}

EncodingSource PositionalEncoding::source(std::int64_t batch, std::int64_t rows) const noexcept {
  if (source_ != EncodingSource::automatic) return source_;
  // A batch that is larger than the cache evicts the table.
  return stay_in_cache(rows, spec().d_model, batch) ? EncodingSource::cached
                                                    : EncodingSource::fused;
}

void PositionalEncoding::forward(const AnySequences& x, const WritableSequences& y,
                                 const ForwardOptions& options) const {
  check_threads(options.threads);
  check_equal("input", "columns", x.columns, "d_model", spec().d_model);
  check_equal("output", "columns", y.columns, "d_model", spec().d_model);
  check_same_type("output", y.type, "the input", x.type);
  if (x.order != y.order) {
    throw_invalid("output is {}; allowed: the order of the input, {}", order_name(y.order),
                  order_name(x.order));
  }
  check_same_rows<AnySequences>("output", y, "the input", x);
  check_apart(strided("output", y), strided("input", x), true);
  check_seed(dropout_of(options), options);
  check_rows(x.rows, options.offset, max_rows_);
  if (y.batch == 0 || y.rows == 0) return;  // The other size may be huge.
  const bool non_temporal =
      x.data != y.data && simd::is_non_temporal(options.stores, 4 * y.batch * y.rows * y.columns);
  const RowWork work = {
      x, y, dropout_of(options), options.seed.value_or(0), non_temporal, options.threads};
  if (source(y.batch, y.rows) == EncodingSource::fused)
    return add_encoding(encoder(), {options.offset, y.rows}, work);
  add_table(table_.data() + options.offset * table_.columns(), work);
}

void PositionalEncoding::backward(const WritableSequences& gradient,
                                  const ForwardOptions& options) const {
  check_threads(options.threads);
  check_equal("gradient", "columns", gradient.columns, "d_model", spec().d_model);
  check_memory("gradient", gradient);
  check_seed(dropout_of(options), options);
  if (const Dropout* const dropout = dropout_of(options))
    add_table(nullptr,
              {gradient, gradient, dropout, options.seed.value_or(0), false, options.threads});
}

}  // namespace posenc::model
