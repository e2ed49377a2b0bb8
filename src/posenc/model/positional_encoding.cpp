#include "posenc/model/positional_encoding.h"

#include "posenc/cpu.h"
#include "posenc/model/internal/add_encoding.h"
#include "posenc/model/internal/checks.h"
#include "posenc/model/internal/dropout_rule.h"
#include "posenc/support/format.h"

#include <algorithm>

namespace posenc {
namespace {

std::int64_t bytes_of(std::int64_t rows, std::int64_t columns) noexcept {
  return rows * columns * std::int64_t{sizeof(float)};
}

/// A table of this number of rows is larger than any cache, and its bytes fit into 63 bits even at
/// max_d_model.
constexpr std::int64_t huge_rows = std::int64_t{1} << 40;

/// A table is worth keeping if it fits into the last-level cache together with the input.
bool worth_keeping(std::int64_t rows, std::int64_t columns) noexcept {
  return rows < huge_rows && shape_class(2 * bytes_of(rows, columns)) != ShapeClass::memory;
}

bool keeps_table(EncodingSource source, std::int64_t rows, std::int64_t columns) noexcept {
  return source == EncodingSource::cached ||
         (source == EncodingSource::automatic && worth_keeping(rows, columns));
}

SelectedEncoder plan(const EncodingSpec& spec, std::int64_t max_rows, const Accuracy& accuracy) {
  validate(spec);
  if (max_rows < 0 || max_rows > max_position + 1) {
    throw InvalidArgument(
        format_text("max_rows is {}; allowed: 0 to {}", max_rows, max_position + 1));
  }
  return plan_selected(spec, {0, max_rows}, {.accuracy = accuracy, .adds = true});
}

}  // namespace

PositionalEncoding::PositionalEncoding(const EncodingSpec& spec, std::int64_t max_rows,
                                       double dropout, EncodingSource source,
                                       const Accuracy& accuracy)
    : selected_(plan(spec, max_rows, accuracy)),
      max_rows_(max_rows),
      dropout_(dropout),
      source_(source) {
  if (!keeps_table(source, max_rows, spec.d_model)) {
    source_ = EncodingSource::fused;
    return;
  }
  table_ = Matrix(max_rows, spec.d_model);
  encoder().encode({.first = 0, .count = max_rows}, table_.view());
}

EncodingSource PositionalEncoding::source(std::int64_t batch, std::int64_t rows) const noexcept {
  if (source_ != EncodingSource::automatic) return source_;
  // A batch that is larger than the cache evicts the table. In double, no product overflows.
  const double bytes = 4.0 * static_cast<double>(spec().d_model) * static_cast<double>(rows) *
                       (static_cast<double>(batch) + 1);
  const bool in_cache =
      shape_class(static_cast<std::int64_t>(std::min(bytes, 0x1p62))) != ShapeClass::memory;
  return in_cache ? EncodingSource::cached : EncodingSource::fused;
}

void PositionalEncoding::check_rows(std::int64_t rows, std::int64_t offset) const {
  if (offset < 0 || offset > max_rows_) {
    throw InvalidArgument(
        format_text("offset is {}; allowed: 0 to max_rows, {}", offset, max_rows_));
  }
  if (rows > max_rows_ - offset) {
    throw InvalidArgument(
        format_text("rows end at {} ({} from offset {}); allowed: at most max_rows, {}",
                    static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(rows), rows,
                    offset, max_rows_));
  }
}

void PositionalEncoding::add_to(const RowWork& work, std::int64_t offset) const {
  if (work.y.batch == 0 || work.y.rows == 0) return;
  if (source(work.y.batch, work.y.rows) == EncodingSource::cached) {
    const std::int64_t columns = table_.columns();
    add_table({table_.data() + offset * columns, work.y.rows, columns, columns}, work);
  } else {
    add_encoding(encoder(), {offset, work.y.rows}, work);
  }
}

void PositionalEncoding::forward(const AnySequences& x, const WritableSequences& y,
                                 const ForwardOptions& options) const {
  check_threads(options.threads);
  check_sequences("input", x, spec().d_model);
  check_sequences("output", y, spec().d_model);
  check_same_shape(x, y);
  check_overlap(x, y);
  check_rows(x.rows, options.offset);
  const auto rule = dropout_rule(dropout_, options.training, options.seed);
  const bool is_empty = y.batch == 0 || y.rows == 0;  // the other one may be huge then
  const bool non_temporal = !is_empty && x.data != y.data &&
                            is_non_temporal(options.stores, bytes_of(y.rows, y.columns) * y.batch);
  add_to({InputRows(x), 1.0f, y, rule ? &*rule : nullptr, non_temporal, options.threads},
         options.offset);
}

void PositionalEncoding::backward(const WritableSequences& gradient,
                                  const ForwardOptions& options) const {
  check_threads(options.threads);
  check_sequences("gradient", gradient, spec().d_model);
  const auto rule = dropout_rule(dropout_, options.training, options.seed);
  if (rule) add_table({}, {InputRows(gradient), 1.0f, gradient, &*rule, false, options.threads});
}

}  // namespace posenc
