// A time that others are compared with, measured in the run whose results it is compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace posenc::bench {

/// CPU seconds of this thread: the clock of Google Benchmark, so that other processes' turns count
/// in neither.
double thread_seconds();

/// Seconds that pass for everybody: the clock for work that several threads share.
double wall_seconds();

class Yardstick {
 public:
  /// A sample lasts at least so long: wall time is comparable only with wall time over as long,
  /// which as many other processes share.
  explicit Yardstick(double (*clock)() = thread_seconds, double seconds_per_sample = 1e-3)
      : clock_(clock), seconds_per_sample_(seconds_per_sample) {}

  /// Median seconds of one call of `work`, which is the same work each time. Every call adds a
  /// sample, so that samples are spread over the whole run as those of the benchmarks are.
  double seconds(const std::function<void()>& work);

 private:
  double sample(const std::function<void()>& work);

  double (*clock_)();
  double seconds_per_sample_;
  std::int64_t calls_ = 1;  ///< of the work in one sample
  std::vector<double> samples_;
};

}  // namespace posenc::bench
