// The limit for a number of bytes, measured in the run whose results it is compared with.
#pragma once

#include <cstdint>

namespace posenc::bench {

/// Bytes/s of the faster of the plain and the non-temporal store loop over `bytes` at
/// `destination`, which is 64-byte aligned: medians over all calls in this run (see yardstick.h).
double limit_bytes_per_second(void* destination, std::int64_t bytes);

}  // namespace posenc::bench
