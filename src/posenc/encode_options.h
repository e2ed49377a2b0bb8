// How a call is executed: threads, and how results are stored.
#pragma once

#include "posenc/export.h"

#include <cstdint>

namespace POSENC_API posenc {

/// How a table is stored.
enum class StorePolicy {
  automatic,  ///< non-temporal if larger than most_cached_bytes()
  cached,     ///< plain stores
  /// Non-temporal stores, if the backend has them and every run of columns takes at least 256
  /// bytes, or begins and ends at multiples of 64 bytes (float64: the latter); else plain stores.
  non_temporal,
};

/// The largest table that StorePolicy::automatic stores by plain stores: what `posenc pick`
/// measured, once a selection has read the profile; else half the last-level cache, but
/// at most 16 MiB.
std::int64_t most_cached_bytes() noexcept;

/// How a call is executed. Its results do not depend on it.
struct EncodeOptions {
  /// Implicit, so that encode(rows, out, 4) uses 4 threads.
  EncodeOptions(int thread_count = 1, StorePolicy policy = StorePolicy::automatic)
      : threads(thread_count), stores(policy) {}  // NOLINT

  int threads;  ///< at least 1; a build without OpenMP uses one
  StorePolicy stores;
};

}  // namespace posenc
