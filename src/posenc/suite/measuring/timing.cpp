#include "posenc/suite/measuring/timing.h"

#include "posenc/suite/measuring/statistics.h"
#include "posenc/suite/measuring/timed_table.h"
#include "posenc/support/check.h"
#include "posenc/support/clocks.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <random>
#include <span>

namespace posenc::suite {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// If more than this share of the time of all samples is lost, the machine is busy.
constexpr double lost_share_when_busy = 0.2;

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
  double sample(TimedTable& timed) {
    Sample best = take(timed);
    for (int tries = 1; tries < most_tries && best.elapsed.lost_share() > allowed_loss; ++tries) {
      const Sample again = take(timed);
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

  Sample take(TimedTable& timed) {
    const auto start = Clock::now();
    const double processor = thread_seconds();
    const double seconds = timed.sample();
    const double used = thread_seconds() - processor, passed = seconds_since(start);
    const Sample taken = {seconds, {passed, std::max(0.0, passed - used)}};
    all_ += taken.elapsed;
    return taken;
  }

  Elapsed kept_, all_;
};

/// A row that takes turns, and its samples.
struct Turn {
  TimedTable* timed;
  std::vector<double> seconds = {};
};

using RowsOfTable = std::span<const TimingRequest::Row>;

/// Times the rows of one table.
void time_table(RowsOfTable rows, const TimingRequest& request, std::mt19937& random,
                Sampler& sampler, Timing& result) {
  const TableMemory memory(rows.front().what.table);
  std::vector<std::unique_ptr<TimedTable>> tables;
  std::vector<Turn> turns;  // of all rows, and then second ones of those that are timed twice
  for (const TimingRequest::Row& row : rows) {
    tables.push_back(
        std::make_unique<TimedTable>(row.what, memory.view(), request.seconds_per_sample));
    tables.back()->warm_up();
    turns.push_back({tables.back().get()});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].twice) turns.push_back({tables[i].get()});
  }
  std::vector<Turn*> order;
  for (Turn& each : turns) order.push_back(&each);
  for (int sample = 0; sample < request.samples; ++sample) {
    std::ranges::shuffle(order, random);
    for (Turn* const turn : order) turn->seconds.push_back(sampler.sample(*turn->timed));
  }
  std::size_t second = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result.seconds.push_back(median(turns[i].seconds));
    result.second_half.push_back(rows[i].twice ? median(turns[second++].seconds) : 0);
  }
}

void check(const TimingRequest& request) {
  check_positive("seconds_per_sample", request.seconds_per_sample);
  check_at_least_one("samples", request.samples);
  for (const auto& [what, twice] : request.rows) {
    check_threads(what.table.threads);
    validate(what.table.spec);
    validate(what.table.rows);
    if (what.table.rows.count == 0)
      throw InvalidArgument(format_text("{} has 0 rows; allowed: at least 1", what.table.name));
    if (what.table.stride < what.table.spec.d_model) {
      throw InvalidArgument(format_text("stride is {}; allowed: at least d_model, {}",
                                        what.table.stride, what.table.spec.d_model));
    }
  }
}

}  // namespace

Timing time_rows(const TimingRequest& request) {
  check(request);
  std::mt19937 random(static_cast<std::mt19937::result_type>(request.seed));
  Sampler sampler;
  Timing result;
  const auto start = Clock::now();
  const double stolen = stolen_seconds();
  for (RowsOfTable left = request.rows; !left.empty();) {
    const auto is_other = [&](const auto& row) { return row.what.table != left[0].what.table; };
    const auto end = std::ranges::find_if(left, is_other);
    const auto count = static_cast<std::size_t>(end - left.begin());
    time_table(left.first(count), request, random, sampler, result);
    left = left.subspan(count);
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

}  // namespace posenc::suite
