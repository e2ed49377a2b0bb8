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
  /// A measurement to time.
  struct Row {
    Measurement what;    ///< backend or limit, and its table
    bool twice = false;  ///< timed as if it were two (A/A)
  };
  /// Rows of one table stand together: they take turns, in random order.
  std::vector<Row> rows;
  int samples = 1;                    ///< of each row; at least 1
  double seconds_per_sample = 0.005;  ///< about this long
  std::uint64_t seed = 0;             ///< of the order
};

/// The times of a request's rows.
struct Timing {
  /// Of each row: the median of its samples, in seconds for one table.
  std::vector<double> seconds;
  /// Of each row: the median of its second half if it is timed twice, else 0.
  std::vector<double> second_half;
  double timed_seconds = 0;  ///< wall time of the samples
  double lost_seconds = 0;   ///< the part that other work or the hypervisor took
};

/// Throws InvalidArgument if the request is not allowed.
Timing time_rows(const TimingRequest& request);

}  // namespace posenc::suite
