/// @file
/// The engine: measures the errors and the times of backends, and the limits of the memory system,
/// as one document.
///
///     const posenc::suite::Measurements measured = posenc::suite::measure();
///     for (const posenc::suite::Verdict& each : posenc::suite::pick(measured))
///       if (each.pick) std::puts(each.pick->backend.c_str());
#pragma once

#include "posenc/backend.h"
#include "posenc/suite/measurement.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// A request to time rows in one process.
struct TimingRequest {
  /// Backends or limits, and their tables. Rows of one table stand together and are timed in random
  /// order, taking turns. A row that stands twice in succession is timed as two rows (A/A).
  std::vector<Measurement> rows;
  int samples = 1;  ///< samples per row, at least 1; a slow row may end early, after 3
  double seconds_per_sample = 0.005;  ///< approximate length of a sample
  std::uint64_t seed = 0;             ///< seed of the random order
};

/// The times of a request's rows.
struct Timing {
  std::vector<double> seconds;  ///< for each row, the median of its samples: seconds for one table
  double timed_seconds = 0;     ///< wall time of the samples
  double lost_seconds = 0;      ///< the part that other work or the hypervisor took
};

/// Times the rows in this process. `posenc measure` uses several processes, because addresses
/// differ from one process to the next, and times depend on addresses. Throws InvalidArgument if
/// the request is not allowed.
Timing time_rows(const TimingRequest& request);

/// The reason why the times of a session are not reliable; empty if they are. Other work took
/// `lost_share` of the timed seconds, and a backend differed from itself by `noise`.
std::string disturbance(double lost_share, double noise);

/// The tables and backends to measure, and how to measure them.
struct MeasureOptions {
  std::vector<MeasuredTable> tables;     ///< default_tables() if empty
  std::vector<const Backend*> backends;  ///< backends_here() if empty
  /// Bytes of memory that a table and its copy may take. A table that needs more is left out, and
  /// the document says so. By default (0), half of the memory of the machine.
  std::int64_t most_bytes = 0;
  int samples = 9;                    ///< number of samples of every row in each process
  double seconds_per_sample = 0.005;  ///< approximate length of a sample
  /// Times the rows of a request. Only several processes show how much times differ from one
  /// process to the next.
  std::function<Timing(const TimingRequest&)> time_in_process = time_rows;
  int processes = 7;  ///< up to twice as many if two timings of a backend differ by over 3 %
  /// Called repeatedly with the finished share of the work in [0, 1] and the current activity.
  std::function<void(double share, std::string_view doing)> progress;
};

/// Measures errors, and then times the rows that keep their own error bounds. Every process times
/// all rows in turn, some backends twice (A/A), and repeats disturbed samples. Throws
/// InvalidArgument if an option is not allowed, if no backend supports a table, or if every table
/// is left out.
Measurements measure(const MeasureOptions& options = {});

}  // namespace posenc::suite
