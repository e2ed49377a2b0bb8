/// @file
/// The engine: measures the errors and the times of backends, and what the memory system allows, as
/// one document.
///
///     const posenc::Measurements measured = posenc::measure();
///     for (const posenc::Verdict& each : posenc::pick(measured)) ...
#pragma once

#include "posenc/backend.h"
#include "posenc/suite/measuring/measurement.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// A dense table that is stored as the library decides. Its name is "5000x512". Throws
/// InvalidArgument if an argument is not allowed, or there are no rows.
MeasuredTable table_of(const EncodingSpec& spec, RowRange rows, DataType type = DataType::float32,
                       int threads = 1);

/// Tables of all sizes from the L1 cache to memory, in the layouts that real systems use. Every
/// machine has the first eleven: the last of them is 8192 x 4096. A twelfth is larger than the
/// caches where that one is not.
std::vector<MeasuredTable> default_tables(DataType type = DataType::float32, int threads = 1);

/// The backends that run here, of all ISAs or of one. Of all, a peer appears at its best ISA only.
std::vector<const Backend*> backends_here(std::optional<Isa> isa = {});

/// What one process times.
struct TimingRequest {
  /// Backends or limits, and their tables. Rows of one table stand together: they take turns, in
  /// random order. A row that stands twice in succession is timed as if it were two (A/A).
  std::vector<Measurement> rows;
  int samples = 1;  ///< of each row; at least 1. A slow row ends when their time is over, after 3.
  double seconds_per_sample = 0.005;  ///< about this long
  std::uint64_t seed = 0;             ///< of the order
};

/// The times of a request's rows.
struct Timing {
  std::vector<double> seconds;  ///< of each row: the median of its samples, for one table
  double timed_seconds = 0;     ///< wall time of the samples
  double lost_seconds = 0;      ///< the part that other work or the hypervisor took
};

/// In this process. `posenc measure` uses several, because addresses, and times with them, differ
/// from one process to the next. Throws InvalidArgument if the request is not allowed.
Timing time_rows(const TimingRequest& request);

/// The reason why times are not reliable, of a session in which other work took that part of the
/// timed seconds, and a backend differed from itself by `noise`; empty if they are.
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
  /// Times rows. Only times of several processes show how much differs from one to the next.
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
