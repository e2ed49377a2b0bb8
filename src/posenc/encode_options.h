/// @file
/// How a call is executed: the number of threads, and how results are stored.
#pragma once

#include "posenc/cxx20.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

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

/// How a call is executed. The options do not affect its results.
struct EncodeOptions {
  EncodeOptions() = default;  ///< one thread, and automatic stores
  /// The conversion is implicit, so that encode(rows, out, 4) uses 4 threads. Any type of integers
  /// is allowed, such as the type of std::thread::hardware_concurrency().
  template <class Number>
  requires(std::is_integral_v<Number> && !std::is_same_v<Number, bool>)
      EncodeOptions(Number thread_count, StorePolicy policy = StorePolicy::automatic)
  noexcept
      : threads(std::in_range<int>(thread_count) ? static_cast<int>(thread_count)
                : thread_count > 0               ? std::numeric_limits<int>::max()
                                                 : std::numeric_limits<int>::min()),
        stores(policy) {}  // NOLINT
  /// A fraction is no number of threads: encode(rows, spec, 1e-6) does not compile.
  template <class Number>
  requires(std::is_floating_point_v<Number> || std::is_same_v<Number, bool>)
      EncodeOptions(Number, StorePolicy = StorePolicy::automatic)
  = delete;

  /// Upper limit, at least 1. Fewer threads are used if more would not help.
  int threads = 1;
  StorePolicy stores = StorePolicy::automatic;  ///< how results are stored
};

}  // namespace posenc
