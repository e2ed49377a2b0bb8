#include "posenc/tuning/timing.h"

#include "posenc/cpu.h"
#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/statistics.h"
#include "posenc/support/store_policy.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <time.h>
#include <unistd.h>

namespace posenc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of the calling thread, which takes part in encoding every table.
double thread_seconds() noexcept {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Processor time that the hypervisor has taken from this machine since its start; 0 if unknown.
double stolen_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> word >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return file && word == "cpu" && ticks > 0 ? steal / ticks : 0;
}

/// Memory for a table, touched, so that no candidate pays for its first touch.
class TableMemory {
 public:
  TableMemory(const EncodingSpec& spec, std::int64_t rows, DataType type)
      : memory_(table_bytes(spec, rows, size_of(type)) / size_of(DataType::float32) + 1, 1) {
    std::fill_n(memory_.data(), memory_.rows(), 0.0f);
    view_ = with_type(type, [&]<class T>(T) {
      return OutputView(reinterpret_cast<T*>(memory_.data()), rows, spec.d_model, spec.d_model);
    });
  }
  const OutputView& view() const { return *view_; }

 private:
  Matrix memory_;
  std::optional<OutputView> view_;
};

/// Slices begin at multiples of this number of rows, within which kernels share work.
constexpr std::int64_t aligned_rows = 64;

/// If more than this share of the time of all samples is lost, the machine is busy.
constexpr double lost_share_when_busy = 0.2;

/// A table that takes longer than this many samples is timed in slices, one per sample.
constexpr double slow_samples = 4;

/// One candidate, and the number of rows that fill one of its samples.
class TimedEncoder {
 public:
  TimedEncoder(const TimingRequest& request, const TimingRequest::Table& asked,
               const TimingRequest::Candidate& candidate)
      : request_(request),
        rows_(asked.rows),
        encoder_(backend(candidate.backend).plan(asked.spec)),
        stores_(is_non_temporal(candidate.stores,
                                table_bytes(asked.spec, rows_.count, size_of(request.type)))
                    ? StorePolicy::non_temporal
                    : StorePolicy::cached) {}

  /// Warms caches, page tables, threads and clocks, and finds how many rows fill a sample.
  void warm_up(const OutputView& table) {
    for (rows_per_sample_ = std::min(rows_.count, aligned_rows);;) {
      const double seconds = work(table);
      if (seconds >= request_.seconds_per_sample / 2) {
        const double wanted =
            request_.seconds_per_sample / seconds * static_cast<double>(rows_per_sample_);
        rows_per_sample_ = whole(wanted);
        break;
      }
      rows_per_sample_ *= 2;
    }
    next_ = 0;
    work(table);
  }

  /// Times one sample. Returns seconds per table.
  double sample(const OutputView& table) {
    const double seconds = work(table);
    return seconds * static_cast<double>(rows_.count) / static_cast<double>(rows_per_sample_);
  }

 private:
  /// A number of whole tables, or a slice of one if a whole one would take too long.
  std::int64_t whole(double rows) const {
    const auto count = static_cast<double>(rows_.count);
    if (rows * slow_samples >= count) {
      return std::max<std::int64_t>(1, std::llround(rows / count)) * rows_.count;
    }
    const auto slice = static_cast<std::int64_t>(rows) / aligned_rows * aligned_rows;
    return std::clamp<std::int64_t>(slice, std::min(aligned_rows, rows_.count), rows_.count);
  }

  /// Encodes rows_per_sample_ rows, starting after the last sample, with the store policy of the
  /// whole table. Returns seconds.
  double work(const OutputView& table) {
    if (next_ + std::min(rows_per_sample_, rows_.count) > rows_.count) next_ = 0;
    const auto start = Clock::now();
    for (std::int64_t left = rows_per_sample_; left > 0;) {
      const std::int64_t count = std::min(left, rows_.count - next_);
      OutputView part = table;
      part.rows = count;
      part.data = static_cast<char*>(table.data) + next_ * table.stride * size_of(table.type);
      encoder_->encode({.first = rows_.first + next_, .count = count}, part,
                       {request_.threads, stores_});
      next_ = (next_ + count) % rows_.count;
      left -= count;
    }
    return seconds_since(start);
  }

  const TimingRequest& request_;
  RowRange rows_;
  std::unique_ptr<const Encoder> encoder_;
  StorePolicy stores_;
  std::int64_t rows_per_sample_ = 1;
  std::int64_t next_ = 0;  ///< the row of the table that the next sample begins at
};

/// A candidate that takes turns, and its samples.
struct Turn {
  TimedEncoder* candidate;
  int samples;
  std::vector<double> seconds;
};

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

/// Takes samples, and again those that were disturbed: other work and the hypervisor take a
/// processor away for some milliseconds at a time, so that most samples are not disturbed at all.
class Sampler {
 public:
  /// Returns seconds per table.
  double sample(TimedEncoder& candidate, const OutputView& table) {
    Sample best = take(candidate, table);
    for (int tries = 1; tries < most_tries && best.elapsed.lost_share() > allowed_loss; ++tries) {
      const Sample again = take(candidate, table);
      if (again.elapsed.lost_share() < best.elapsed.lost_share()) best = again;
    }
    kept_ += best.elapsed;
    return best.seconds;
  }

  const Elapsed& kept() const noexcept { return kept_; }  ///< by the samples that were returned
  const Elapsed& all() const noexcept { return all_; }    ///< by these and the disturbed ones

 private:
  static constexpr double allowed_loss = 0.02;
  static constexpr int most_tries = 5;

  struct Sample {
    double seconds;
    Elapsed elapsed;
  };

  Sample take(TimedEncoder& candidate, const OutputView& table) {
    const auto start = Clock::now();
    const double processor = thread_seconds();
    const double seconds = candidate.sample(table);
    const double used = thread_seconds() - processor, passed = seconds_since(start);
    const Sample taken = {seconds, {passed, std::max(0.0, passed - used)}};
    all_ += taken.elapsed;
    return taken;
  }

  Elapsed kept_, all_;
};

TimingResult::Table time_table(const TimingRequest& request, const TimingRequest::Table& asked,
                               std::mt19937& random, Sampler& sampler) {
  const TableMemory memory(asked.spec, asked.rows.count, request.type);
  std::vector<std::unique_ptr<TimedEncoder>> candidates;
  std::vector<Turn> turns;
  for (const TimingRequest::Candidate& each : asked.candidates) {
    candidates.push_back(std::make_unique<TimedEncoder>(request, asked, each));
    turns.push_back({candidates.back().get(), each.samples, {}});
    candidates.back()->warm_up(memory.view());
  }
  turns.push_back({turns[asked.repeated].candidate, turns[asked.repeated].samples, {}});
  std::vector<Turn*> order;
  for (Turn& each : turns) order.push_back(&each);
  const int most = std::ranges::max(turns, {}, &Turn::samples).samples;
  for (int sample = 0; sample < most; ++sample) {
    std::ranges::shuffle(order, random);
    for (Turn* const turn : order) {
      if (sample >= turn->samples) continue;
      turn->seconds.push_back(sampler.sample(*turn->candidate, memory.view()));
    }
  }
  TimingResult::Table timed;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    timed.seconds.push_back(median(turns[i].seconds));
  timed.repeated_seconds = median(turns.back().seconds);
  return timed;
}

void check(const TimingRequest& request) {
  check_positive("seconds_per_sample", request.seconds_per_sample);
  check_threads(request.threads);
  for (const TimingRequest::Table& asked : request.tables) {
    validate(asked.spec);
    validate(asked.rows);
    if (asked.rows.count == 0) throw InvalidArgument("rows are 0; allowed: at least 1 to time");
    if (asked.candidates.empty())
      throw InvalidArgument("candidates is empty; allowed: at least one to time");
    if (asked.repeated >= asked.candidates.size()) {
      throw InvalidArgument(format_text("repeated is {}; allowed: below {}", asked.repeated,
                                        asked.candidates.size()));
    }
    for (const TimingRequest::Candidate& each : asked.candidates) {
      if (each.samples < 1)
        throw InvalidArgument(format_text("samples is {}; allowed: at least 1", each.samples));
    }
  }
}

}  // namespace

TimingResult time_candidates(const TimingRequest& request) {
  check(request);
  std::mt19937 random(static_cast<std::mt19937::result_type>(request.seed));
  Sampler sampler;
  TimingResult result;
  const auto start = Clock::now();
  const double stolen = stolen_seconds();
  for (const TimingRequest::Table& asked : request.tables) {
    result.tables.push_back(time_table(request, asked, random, sampler));
  }
  const double lost_of_all = sampler.all().lost_share();
  double lost_share = sampler.kept().lost_share();
  // Work that takes so much also slows down the samples that it leaves whole.
  if (lost_of_all > lost_share_when_busy) lost_share = lost_of_all;
  // The processor time of a thread includes stolen time on older kernels, and says nothing of other
  // threads. What was stolen over the whole run then counts.
  const double stolen_share = (stolen_seconds() - stolen) / std::max(seconds_since(start), 1e-9);
  if (stolen_share > 2 * lost_of_all) lost_share = std::max(lost_share, stolen_share);
  result.timed_seconds = sampler.kept().passed;
  result.lost_seconds = lost_share * result.timed_seconds;
  return result;
}

}  // namespace posenc
