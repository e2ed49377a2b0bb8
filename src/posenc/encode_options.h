/// @file
/// How a call is executed: the threads, and how results are stored.
#pragma once

#include "posenc/cxx20.h"
#include "posenc/threads.h"

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace posenc {

/// How a table is stored.
enum class StorePolicy {
  automatic,  ///< non-temporal if larger than most_cached_bytes()
  cached,     ///< plain stores
  /// Non-temporal stores, if the backend has them and every segment either has at least 256 bytes,
  /// or begins and ends at multiples of 64 bytes. For float64, only the second condition counts. If
  /// neither holds, plain stores. A segment is a whole row if the layout is interleaved. Otherwise
  /// it is one half of a row.
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
  /// The conversion is implicit, so that encode(rows, out, 4) uses 4 threads.
  template <class Convertible>
  requires(std::is_convertible_v<Convertible, Threads>)
      EncodeOptions(Convertible most, StorePolicy policy = StorePolicy::automatic)
  noexcept  // NOLINT
      : threads(most), stores(policy) {}

  Threads threads;                              ///< the threads that share the work
  StorePolicy stores = StorePolicy::automatic;  ///< how results are stored
};

}  // namespace posenc
