/// @file
/// The verdict on a document of measurements: the fastest backend that promises an accuracy, for
/// each class of table sizes.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/suite/measuring/measurement.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace posenc::suite {

/// The time of one candidate over another's, paired by process, so that common noise cancels.
struct PairedRatio {
  double ratio = 1;  ///< geometric mean over the processes
  double low = 0;    ///< its 95 % interval; unbounded if there are fewer than two processes
  double high = std::numeric_limits<double>::infinity();  ///< of the same interval
};

/// One backend over all tables of a class. Peers are compared, and never picked.
struct Candidate : MeasuredBackend {
  std::size_t method = 0;     ///< place of its method in the document, the simplest first
  Promise promise;            ///< the weakest of its tables
  double max_abs = 0;         ///< largest measured error, over all tables
  bool keeps_promise = true;  ///< on every table
  /// One value per process: the geometric mean, over the tables, of the seconds for an entry. Empty
  /// unless it was timed on every table of the class.
  std::vector<double> seconds_per_entry;
  double gfloats_per_second = 0;  ///< of the median process; 0 if not timed
  // What pick() finds:
  bool compared = false;  ///< promises the accuracy and keeps it, and is timed, on every table
  bool tied = false;      ///< with the fastest
  PairedRatio time;       ///< of a compared candidate, over that of the pick
};

/// The candidates of one shape class, element type and number of threads.
struct MeasuredClass {
  ShapeClass shape = ShapeClass::memory;   ///< of its tables
  DataType type = DataType::float32;       ///< of its tables
  int threads = 1;                         ///< that encoded them
  std::vector<std::string> tables = {};    ///< names
  double noise_floor = 0;                  ///< largest relative difference of a backend from itself
  std::vector<Candidate> candidates = {};  ///< in the order of the document

  std::string text() const;  ///< "l2, float32, 1 thread"
};

/// The classes of a document, by size. Dense tables that are stored as the library decides count;
/// limits are no candidates.
std::vector<MeasuredClass> classes_of(const Measurements& document);

/// The largest noise floor of its classes.
double noise_floor_of(const Measurements& document);

/// The pick of one class, and the candidates beside it.
struct Verdict {
  MeasuredClass measured;         ///< the class that it is of
  std::optional<Candidate> pick;  ///< none if no backend promises the accuracy
  std::vector<Candidate> others;  ///< the fastest first, and those not compared last

  /// The fastest other candidate that could have been picked. It may be faster than the pick, if
  /// the pick ties with it and is simpler. Null if there is none.
  const Candidate* next() const noexcept;
};

/// One verdict for each class of the document. Two backends tie unless the 95 % interval of their
/// ratio, paired by process, excludes 1, and the ratio differs from 1 by more than 2 % and by more
/// than the noise floor. Of the backends that tie with the fastest and cost little more, the
/// simplest method is picked, at its best ISA. Peers are compared and never picked.
std::vector<Verdict> pick(const Measurements& document, const Accuracy& accuracy = {});

}  // namespace posenc::suite
