/// @file
/// The engine: measures the errors and the times of backends, and what the memory system allows, as
/// one document.
///
///     const posenc::suite::Measurements measured = posenc::suite::measure();
///     for (const posenc::suite::Verdict& each : posenc::suite::pick(measured)) ...
#pragma once

#include "posenc/backend.h"
#include "posenc/suite/measurement.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// What one process times.
struct TimingRequest {
  /// Backends or limits, and their tables. Rows of one table stand together: they take turns, in
  /// random order. A row that stands twice in succession is timed as if it were two (A/A).
  std::vector<Measurement> rows;
  int samples = 1;  ///< samples per row, at least 1; a slow row may end early, after 3
  double seconds_per_sample = 0.005;  ///< about this long
  std::uint64_t seed = 0;             ///< seed of the order
};

/// The times of a request's rows.
struct Timing {
  std::vector<double> seconds;  ///< of each row: the median of its samples, for one table
  double timed_seconds = 0;     ///< wall time of the samples
  double lost_seconds = 0;      ///< the part that other work or the hypervisor took
};

/// Times the rows in this process. `posenc measure` uses several, because addresses, and times with
/// them, differ from one process to the next. Throws InvalidArgument if the request is not allowed.
Timing time_rows(const TimingRequest& request);

/// Why the times of a session are not reliable; empty if they are. Other work took `lost_share` of
/// the timed seconds, and a backend differed from itself by `noise`.
std::string disturbance(double lost_share, double noise);

/// What is measured, and how.
struct MeasureOptions {
  std::vector<MeasuredTable> tables;     ///< default_tables() if empty
  std::vector<const Backend*> backends;  ///< backends_here() if empty
  bool limits = true;                    ///< store loops and copies too
  /// Bytes of memory that tables and their copies may take. A table that needs more is left out,
  /// and the document says so. By default, half of the memory of the machine.
  std::int64_t most_bytes = 0;
  int samples = 9;                    ///< of every row in each process
  double seconds_per_sample = 0.005;  ///< about this long
  /// Times rows. Only several processes show how much times differ from one to the next.
  std::function<Timing(const TimingRequest&)> time_in_process = time_rows;
  int processes = 7;  ///< up to twice this, while a backend differs from itself by over 3 %
  /// Called repeatedly, with the finished share of the work in [0, 1] and what is done.
  std::function<void(double share, std::string_view doing)> progress;
};

/// Measures errors, and then times what keeps its own error bound: all rows in turn in every
/// process, some backends twice (A/A), and disturbed samples again. Throws InvalidArgument if an
/// option is not allowed, no backend supports a table, or every table is left out.
Measurements measure(const MeasureOptions& options = {});

}  // namespace posenc::suite
