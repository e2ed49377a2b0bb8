/// @file
/// How a call is executed: the number of threads, and how results are stored.
#pragma once

#include "posenc/cxx20.h"

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace posenc {

/// How a table is stored.
enum class StorePolicy {
  automatic,  ///< non-temporal if larger than most_cached_bytes()
  cached,     ///< plain stores
  /// Non-temporal stores, if the backend has them and every segment of columns takes at least 256
  /// bytes, or begins and ends at multiples of 64 bytes. For float64, only the second condition
  /// counts. Otherwise plain stores.
  non_temporal,
};

/// "automatic", "cached" or "non_temporal".
std::string_view to_string(StorePolicy policy) noexcept;
/// Parses the name of a policy. Throws InvalidArgument, listing the allowed names.
StorePolicy parse_store_policy(std::string_view name);

/// The largest table, in bytes, for which StorePolicy::automatic uses plain stores: half the
/// last-level cache of this CPU, but at most 16 MiB.
std::int64_t most_cached_bytes() noexcept;

/// True if a table of `bytes` bytes is to be stored non-temporally. Plain stores first read each
/// cache line. Non-temporal stores do not, and reach the bandwidth of the memory.
bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept;

/// How a call is executed. The options do not affect its results.
struct EncodeOptions {
  /// This constructor is implicit, so that encode(rows, out, 4) uses 4 threads.
  EncodeOptions(int thread_count = 1, StorePolicy policy = StorePolicy::automatic)
      : threads(thread_count), stores(policy) {}  // NOLINT
  /// Only an int is a number of threads: encode(rows, spec, 1e-6) does not compile.
  template <class Number>
  requires std::is_arithmetic_v<Number> EncodeOptions(Number, StorePolicy = StorePolicy::automatic)
  = delete;

  /// The upper limit of threads, at least 1. Fewer are used if the process has fewer CPUs or if
  /// more threads would not help.
  int threads;
  StorePolicy stores;  ///< how results are stored
};

}  // namespace posenc
