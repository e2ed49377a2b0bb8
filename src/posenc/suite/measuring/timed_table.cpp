#include "posenc/suite/measuring/timed_table.h"

#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/suite/measuring/memory_loops.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

namespace posenc::suite {
namespace {

using Clock = std::chrono::steady_clock;
using Write = std::function<void(RowRange rows, const OutputView& out)>;

/// Slices begin at multiples of this number of rows, within which kernels share work.
constexpr std::int64_t aligned_rows = 64;

/// A table that takes longer than this many samples is timed in slices, one per sample.
constexpr double slow_samples = 4;

std::int64_t bytes_of(const OutputView& out) { return out.rows * out.stride * size_of(out.type); }

/// The backend, with the store policy of the whole table also for slices.
Write encoding(const Measurement& what) {
  const MeasuredTable& table = what.table;
  const std::shared_ptr<const Encoder> encoder = backend(what.full_name()).plan(table.spec);
  const EncodeOptions options = {table.threads, is_non_temporal(table.stores, table.bytes())
                                                    ? StorePolicy::non_temporal
                                                    : StorePolicy::cached};
  return [encoder, options](RowRange rows, const OutputView& out) {
    encoder->encode(rows, out, options);
  };
}

/// The limits have one thread, and no gaps between rows.
Write limit(const Measurement& what) {
  if (what.backend == "store") {
    return [](RowRange, const OutputView& out) { store_loop(out.data, bytes_of(out)); };
  }
  if (what.backend == "non_temporal_store") {
    return
        [](RowRange, const OutputView& out) { non_temporal_store_loop(out.data, bytes_of(out)); };
  }
  if (what.backend == "copy") {
    const auto kept = std::make_shared<const TableMemory>(what.table);
    return [kept, first = what.table.rows.first](RowRange rows, const OutputView& out) {
      const auto offset = (rows.first - first) * out.stride * size_of(out.type);
      copy_loop(out.data, static_cast<const char*>(kept->view().data) + offset, bytes_of(out));
    };
  }
  throw InvalidArgument(
      format_text("limit is '{}'; allowed: store, non_temporal_store, copy", what.backend));
}

}  // namespace

TableMemory::TableMemory(const MeasuredTable& table)
    : memory_(
          table.rows.count * table.stride * size_of(table.type) / size_of(DataType::float32) + 1,
          1) {
  std::fill_n(memory_.data(), memory_.rows(), 0.0f);
  view_ = with_type(table.type, [&]<class T>(T) {
    return OutputView(reinterpret_cast<T*>(memory_.data()), table.rows.count, table.spec.d_model,
                      table.stride);
  });
}

TimedTable::TimedTable(const Measurement& what, const OutputView& memory, double seconds_per_sample)
    : table_(what.table),
      memory_(memory),
      seconds_per_sample_(seconds_per_sample),
      write_(what.role == Role::limit ? limit(what) : encoding(what)) {}

void TimedTable::warm_up() {
  for (rows_per_sample_ = std::min(table_.rows.count, aligned_rows);; rows_per_sample_ *= 2) {
    const double seconds = work();
    if (seconds < seconds_per_sample_ / 2) continue;
    rows_per_sample_ =
        rows_for(seconds_per_sample_ / seconds * static_cast<double>(rows_per_sample_));
    break;
  }
  next_ = 0;
  work();
}

double TimedTable::sample() {
  const double seconds = work();
  return seconds * static_cast<double>(table_.rows.count) / static_cast<double>(rows_per_sample_);
}

/// A number of whole tables, or a slice of one if a whole one would take too long.
std::int64_t TimedTable::rows_for(double rows) const {
  const auto count = static_cast<double>(table_.rows.count);
  if (rows * slow_samples >= count)
    return std::max<std::int64_t>(1, std::llround(rows / count)) * table_.rows.count;
  const auto slice = static_cast<std::int64_t>(rows) / aligned_rows * aligned_rows;
  return std::clamp<std::int64_t>(slice, std::min(aligned_rows, table_.rows.count),
                                  table_.rows.count);
}

/// Writes rows_per_sample_ rows, starting after the last sample. Returns seconds.
double TimedTable::work() {
  const RowRange all = table_.rows;
  if (next_ + std::min(rows_per_sample_, all.count) > all.count) next_ = 0;
  const auto start = Clock::now();
  for (std::int64_t left = rows_per_sample_; left > 0;) {
    const std::int64_t count = std::min(left, all.count - next_);
    OutputView part = memory_;
    part.rows = count;
    part.data = static_cast<char*>(memory_.data) + next_ * memory_.stride * size_of(memory_.type);
    write_({.first = all.first + next_, .count = count}, part);
    next_ = (next_ + count) % all.count;
    left -= count;
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace posenc::suite
