#include "yardstick.h"

#include "posenc/support/statistics.h"

#include <cstddef>
#include <ctime>

namespace posenc::bench {
namespace {

constexpr std::size_t least_samples = 7;

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double thread_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

double Yardstick::sample(const std::function<void()>& work) {
  work();  // brings the memory to where the work leaves it
  while (true) {
    const double begin = clock_();
    for (std::int64_t call = 0; call < calls_; ++call) work();
    const double seconds = clock_() - begin;
    if (seconds >= seconds_per_sample_) return seconds / static_cast<double>(calls_);
    calls_ *= 2;
  }
}

double Yardstick::seconds(const std::function<void()>& work) {
  do {
    samples_.push_back(sample(work));
  } while (samples_.size() < least_samples);
  return median(samples_);
}

}  // namespace posenc::bench
