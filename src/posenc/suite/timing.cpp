#include "posenc/encoder.h"
#include "posenc/matrix.h"
#include "posenc/registry.h"
#include "posenc/simd/store_plan.h"
#include "posenc/suite/measure.h"
#include "posenc/suite/memory_loops.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/cache_line.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <span>

namespace posenc::suite {
namespace {

using Clock = std::chrono::steady_clock;
using Write = std::function<void(RowRange rows, const OutputView& out)>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of the calling thread. Windows counts it in steps longer than a sample, so wall
/// time takes its place there.
double thread_seconds() noexcept {
#ifdef _WIN32
  return seconds_since({});
#else
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
#endif
}

/// Memory for a table. It is touched here, so that no sample includes the first touch.
struct TableMemory {
  explicit TableMemory(const MeasuredTable& table)
      : memory(table.rows.count * table.stride, size_of(table.type) / size_of(DataType::bfloat16)),
        view(memory.data(), table.rows.count, table.spec.d_model, table.stride) {
    std::fill_n(memory.data(), memory.rows() * memory.columns(), BFloat16{});
    view.type = table.type;
  }

  BasicMatrix<BFloat16> memory;
  OutputView view;
};

/// Slices begin at multiples of this number of rows, because kernels share work within such a
/// block.
constexpr std::int64_t aligned_rows = 64;

/// A table that takes longer than this many samples is timed in slices, one per sample.
constexpr double slow_samples = 4;

/// Encodes with a backend. Slices use the store policy of the whole table.
Write encoding(const Measurement& what) {
  const MeasuredTable& table = what.table;
  const std::shared_ptr<const Encoder> encoder = backend(what.full_name()).plan(table.spec);
  const EncodeOptions options = {table.threads, simd::is_non_temporal(table.stores, table.bytes())
                                                    ? StorePolicy::non_temporal
                                                    : StorePolicy::cached};
  return [encoder, options](RowRange rows, const OutputView& out) {
    encoder->encode(rows, out, options);
  };
}

/// Writes `bytes` bytes at `to`, which is `offset` bytes into the table.
using WriteBytes = std::function<void(char* to, std::int64_t offset, std::int64_t bytes)>;

WriteBytes loop_of_limit(const Measurement& what) {
  if (what.backend == "store")
    return [](char* to, auto, std::int64_t bytes) { store_loop(to, bytes); };
  if (what.backend == "non_temporal_store")
    return [](char* to, auto, std::int64_t bytes) { non_temporal_store_loop(to, bytes); };
  if (what.backend == "copy") {
    return [from = std::make_shared<const TableMemory>(what.table)](char* to, std::int64_t offset,
                                                                    std::int64_t bytes) {
      std::memcpy(to, static_cast<const char*>(from->view.data) + offset,
                  static_cast<std::size_t>(bytes));
    };
  }
  throw_invalid("limit is '{}'; allowed: store, non_temporal_store, copy", what.backend);
}

/// Measures a limit with the threads of the table, which write parts that begin at cache lines. It
/// also writes the padding between rows.
Write limit(const Measurement& what) {
  return [loop = loop_of_limit(what), first = what.table.rows.first, threads = what.table.threads](
             RowRange rows, const OutputView& out) {
    constexpr std::int64_t line = cache_line_bytes,
                           lines_per_piece = (std::int64_t{128} << 10) / line;
    const std::int64_t row_bytes = out.stride * size_of(out.type), bytes = out.rows * row_bytes;
    const auto write = [&](std::int64_t begin, std::int64_t end) {
      loop(static_cast<char*>(out.data) + begin, (rows.first - first) * row_bytes + begin,
           end - begin);
    };
    if (threads == 1) return write(0, bytes);
    parallel_for((bytes + line - 1) / line, lines_per_piece, threads,
                 [&](std::int64_t begin, std::int64_t end, int) {
                   write(begin * line, std::min(bytes, end * line));
                 });
  };
}

/// Wall time, and the part of it in which the calling thread had no processor.
struct Elapsed {
  double passed = 0;
  double lost = 0;

  Elapsed& operator+=(const Elapsed& other) noexcept {
    passed += other.passed;
    lost += other.lost;
    return *this;
  }

  double lost_share() const noexcept { return passed > 0 ? lost / passed : 0; }
};

/// Times one row of a document. Each sample writes a number of table rows that takes about
/// `seconds_per_sample`.
class TimedTable {
 public:
  /// The memory must outlive this object. Warms up caches, page tables, threads and clocks, and
  /// finds how many rows fill a sample.
  TimedTable(const Measurement& what, const OutputView& memory, double seconds_per_sample)
      : table_(what.table),
        memory_(memory),
        write_(what.role == Role::limit ? limit(what) : encoding(what)) {
    rows_per_sample_ = std::min(table_.rows.count, aligned_rows);
    double seconds = sample().passed;
    while (seconds < seconds_per_sample / 2) {
      rows_per_sample_ *= 2;
      seconds = sample().passed;
    }
    rows_per_sample_ =
        rows_for(seconds_per_sample / seconds * static_cast<double>(rows_per_sample_));
    next_ = 0;
    sample();
  }

  double samples_per_table() const {
    return static_cast<double>(table_.rows.count) / static_cast<double>(rows_per_sample_);
  }

  /// Writes the rows of one sample. They follow the rows of the last sample.
  Elapsed sample() {
    const RowRange all = table_.rows;
    if (next_ + std::min(rows_per_sample_, all.count) > all.count) next_ = 0;
    const double processor = thread_seconds();
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
    const double passed = seconds_since(start);
    return {passed, std::max(0.0, passed - (thread_seconds() - processor))};
  }

 private:
  /// The number of rows in a sample: whole tables, or a slice of a table if a whole one would take
  /// too long.
  std::int64_t rows_for(double rows) const {
    const auto count = static_cast<double>(table_.rows.count);
    if (rows * slow_samples >= count)
      return std::max<std::int64_t>(1, std::llround(rows / count)) * table_.rows.count;
    const auto slice = static_cast<std::int64_t>(rows) / aligned_rows * aligned_rows;
    return std::clamp<std::int64_t>(slice, std::min(aligned_rows, table_.rows.count),
                                    table_.rows.count);
  }

  const MeasuredTable& table_;
  const OutputView& memory_;
  Write write_;
  std::int64_t rows_per_sample_ = 1;
  std::int64_t next_ = 0;  ///< first row of the next sample
};

/// The machine is busy if all samples together lose more than this share of their time.
constexpr double lost_share_when_busy = 0.2;

/// Takes samples, and repeats those that were disturbed. Other work and the hypervisor take a
/// processor away for some milliseconds at a time, so most samples are not disturbed at all.
struct Sampler {
  static constexpr double allowed_loss = 0.02;
  static constexpr int most_tries = 5;

  /// The time of the samples that were returned, and of all samples.
  Elapsed kept, all;

  /// Returns seconds per table.
  double sample(TimedTable& timed) {
    Elapsed best = timed.sample();
    all += best;
    for (int tries = 1; tries < most_tries && best.lost_share() > allowed_loss; ++tries) {
      const Elapsed again = timed.sample();
      all += again;
      if (again.lost_share() < best.lost_share()) best = again;
    }
    kept += best;
    return best.passed * timed.samples_per_table();
  }
};

/// A row ends early, after at least this many samples, if all its samples would take longer than
/// the request says. Slow methods would otherwise take most of the time, and they need no narrower
/// interval.
constexpr int least_samples = 3;

using RowsOfTable = std::span<const Measurement>;

/// Times the rows of one table.
void time_table(RowsOfTable rows, const TimingRequest& request, std::mt19937& random,
                Sampler& sampler, Timing& result) {
  const TableMemory memory(rows.front().table);
  std::vector<std::shared_ptr<TimedTable>> tables;
  std::vector<std::size_t> order;
  for (const Measurement& row : rows) {
    const bool is_again = !order.empty() && rows[order.back()].full_name() == row.full_name();
    order.push_back(tables.size());
    tables.push_back(
        is_again ? tables.back()
                 : std::make_shared<TimedTable>(row, memory.view, request.seconds_per_sample));
  }
  std::vector<std::vector<double>> seconds(rows.size());
  std::vector<double> spent(rows.size());
  for (int sample = 0; sample < request.samples; ++sample) {
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      if (sample >= least_samples && spent[i] > request.samples * request.seconds_per_sample)
        continue;
      const auto start = Clock::now();
      seconds[i].push_back(sampler.sample(*tables[i]));
      spent[i] += seconds_since(start);
    }
  }
  for (const std::vector<double>& each : seconds) result.seconds.push_back(median(each));
}

void check(const TimingRequest& request) {
  check_positive("seconds_per_sample", request.seconds_per_sample);
  check_at_least_one("samples", request.samples);
  for (const auto& row : request.rows) {
    const MeasuredTable& table = row.table;
    table_of(table.spec, table.rows, table.type, table.threads);  // throws if not allowed
    if (table.stride < table.spec.d_model) {
      throw_invalid("stride is {}; allowed: at least d_model, {}", table.stride,
                    table.spec.d_model);
    }
  }
}

}  // namespace

Timing time_rows(const TimingRequest& request) {
  check(request);
  std::mt19937 random(static_cast<std::mt19937::result_type>(request.seed));
  Sampler sampler;
  Timing result;
  for (RowsOfTable left = request.rows; !left.empty();) {
    const auto is_other = [&](const auto& row) { return row.table != left[0].table; };
    const auto end = std::ranges::find_if(left, is_other);
    const auto count = static_cast<std::size_t>(end - left.begin());
    time_table(left.first(count), request, random, sampler, result);
    left = left.subspan(count);
  }
  const double lost_of_all = sampler.all.lost_share();
  // Other work that takes this much also slows down the samples that it does not interrupt.
  const double lost_share =
      lost_of_all > lost_share_when_busy ? lost_of_all : sampler.kept.lost_share();
  result.timed_seconds = sampler.kept.passed;
  result.lost_seconds = lost_share * result.timed_seconds;
  return result;
}

}  // namespace posenc::suite
