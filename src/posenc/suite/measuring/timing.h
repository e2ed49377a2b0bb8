/// @file
/// Times measurements in one process. `posenc measure` uses several processes, because addresses,
/// and times with them, differ from one process to the next.
#pragma once

#include "posenc/suite/measuring/measurement.h"

#include <cstdint>
#include <vector>

namespace posenc::suite {

/// What one process times.
struct TimingRequest {
  /// Backends or limits, and their tables. Rows of one table stand together: they take turns, in
  /// random order. A row that stands twice in succession is timed as if it were two (A/A).
  std::vector<Measurement> rows;
  int samples = 1;                    ///< of each row; at least 1
  double seconds_per_sample = 0.005;  ///< about this long
  std::uint64_t seed = 0;             ///< of the order
};

/// The times of a request's rows.
struct Timing {
  std::vector<double> seconds;  ///< of each row: the median of its samples, for one table
  double timed_seconds = 0;     ///< wall time of the samples
  double lost_seconds = 0;      ///< the part that other work or the hypervisor took
};

/// Throws InvalidArgument if the request is not allowed.
Timing time_rows(const TimingRequest& request);

}  // namespace posenc::suite
