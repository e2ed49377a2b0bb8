#include "limit.h"

#include "posenc/limits.h"
#include "posenc/statistics.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <map>
#include <vector>

namespace posenc::bench {
namespace {

using StoreLoop = void (*)(void* destination, std::int64_t bytes) noexcept;

constexpr std::size_t least_samples = 7;
constexpr double seconds_per_sample = 1e-3;

struct Samples {
  std::vector<double> plain;         ///< bytes/s
  std::vector<double> non_temporal;  ///< bytes/s
};

double sample(StoreLoop loop, void* destination, std::int64_t bytes) {
  loop(destination, bytes);  // brings the destination to where the loop leaves it
  std::int64_t calls = 1;
  while (true) {
    const double begin = thread_seconds();
    for (std::int64_t call = 0; call < calls; ++call) loop(destination, bytes);
    const double seconds = thread_seconds() - begin;
    if (seconds >= seconds_per_sample) return static_cast<double>(calls * bytes) / seconds;
    calls *= 2;
  }
}

}  // namespace

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double limit_bytes_per_second(void* destination, std::int64_t bytes) {
  static std::map<std::int64_t, Samples> samples_of_bytes;
  Samples& samples = samples_of_bytes[bytes];
  do {
    samples.plain.push_back(sample(store_loop, destination, bytes));
    samples.non_temporal.push_back(sample(non_temporal_store_loop, destination, bytes));
  } while (samples.plain.size() < least_samples);
  return std::max(median(samples.plain), median(samples.non_temporal));
}

}  // namespace posenc::bench
