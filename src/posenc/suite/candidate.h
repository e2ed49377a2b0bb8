/// @file
/// A backend that may be picked, and the ratio of its times to the times of another candidate.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/suite/measurement.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace posenc::suite {

/// The ratio of the times of two candidates. Times are paired by process, so that common noise
/// cancels.
struct PairedRatio {
  double ratio = 1;  ///< geometric mean over the processes
  double low = 0;    ///< lower end of its 95 % interval; 0 if there are fewer than two processes
  /// Upper end of this interval; infinity if there are fewer than two processes.
  double high = std::numeric_limits<double>::infinity();
};

/// One backend over all tables of a class. Peers are compared, and never picked.
struct Candidate : MeasuredBackend {
  std::size_t method = 0;     ///< index of its method in the document, simplest first
  Promise promise;            ///< the weakest promise over its tables
  double max_abs = 0;         ///< largest measured error, over all tables
  bool keeps_promise = true;  ///< true if it keeps its promise on every table
  /// One value per process: the geometric mean over the tables of the seconds per entry. Empty
  /// unless the backend was timed on every table of the class.
  std::vector<double> seconds_per_entry;
  double gfloats_per_second = 0;  ///< throughput of the median process; 0 if not timed
  // Set by pick():
  /// True if it promises and keeps the accuracy and is timed, on all tables.
  bool compared = false;
  bool tied = false;  ///< true if it ties with the fastest; for the pick, if another candidate does
  PairedRatio time;   ///< time over the pick's time; set if compared
};

}  // namespace posenc::suite
