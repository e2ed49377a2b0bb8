// The limit for a number of bytes, measured in the run whose results it is compared with.
#pragma once

#include <cstdint>

namespace posenc::bench {

/// CPU seconds of this thread: the clock of Google Benchmark, so that other processes' turns count in neither.
double thread_seconds();

/// Median bytes/s of the faster of the plain and the non-temporal store loop over `bytes` at `destination`, which is 64-byte
/// aligned. Every call adds a sample of both, so that samples are spread over the whole run as those of the encoders are.
double limit_bytes_per_second(void* destination, std::int64_t bytes);

}  // namespace posenc::bench
