/// @file
/// A backend that may be picked, and how its times compare with another one's.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/suite/measurement.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace posenc::suite {

/// The time of one candidate over another's, paired by process, so that common noise cancels.
struct PairedRatio {
  double ratio = 1;  ///< geometric mean over the processes
  double low = 0;    ///< its 95 % interval; unbounded if there are fewer than two processes
  double high = std::numeric_limits<double>::infinity();  ///< upper end of this interval
};

/// One backend over all tables of a class. Peers are compared, and never picked.
struct Candidate : MeasuredBackend {
  std::size_t method = 0;     ///< index of its method in the document, simplest first
  Promise promise;            ///< the weakest promise over its tables
  double max_abs = 0;         ///< largest measured error, over all tables
  bool keeps_promise = true;  ///< on every table
  /// One value per process: the geometric mean, over the tables, of the seconds for an entry. Empty
  /// unless it was timed on every table of the class.
  std::vector<double> seconds_per_entry;
  double gfloats_per_second = 0;  ///< of the median process; 0 if not timed
  // Set by pick():
  bool compared = false;  ///< promises and keeps the accuracy, and is timed, on all tables
  bool tied = false;      ///< true if it ties with the fastest
  PairedRatio time;       ///< time over the pick's time; set if compared
};

}  // namespace posenc::suite
