/// @file
/// The verdict on a document of measurements: the fastest backend that promises an accuracy, for
/// each table, and for each class of table sizes.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/suite/measuring/measurement.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
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

/// Which tables share a verdict.
enum class Grouping {
  levels,  ///< tables that fit in the same cache, of one element type and number of threads
  tables,  ///< each table alone
};

/// The candidates of one group of tables: a shape class or a table, of one element type, encoded by
/// one number of threads.
struct MeasuredClass {
  Grouping grouping = Grouping::levels;    ///< what the group is
  ShapeClass shape = ShapeClass::memory;   ///< the cache that its tables fit in
  DataType type = DataType::float32;       ///< of the elements of its tables
  int threads = 1;                         ///< number of threads that encoded its tables
  std::vector<MeasuredTable> tables = {};  ///< in the order of the document
  double noise_floor = 0;                  ///< largest relative difference of a backend from itself
  std::vector<Candidate> candidates = {};  ///< in the order of the document

  /// "l2, float32, 1 thread"; for a single table, MeasuredTable::text().
  std::string text() const;
};

/// The groups of a document: levels by size, tables in the order of the document. Only dense tables
/// that are stored as the library decides count; limits are no candidates.
std::vector<MeasuredClass> classes_of(const Measurements& document,
                                      Grouping grouping = Grouping::levels);

/// The largest noise floor of its classes.
double noise_floor_of(const Measurements& document);

/// The pick of one class, and the candidates beside it.
struct Verdict {
  MeasuredClass measured;         ///< the class that was judged
  std::optional<Candidate> pick;  ///< none if no backend promises the accuracy
  std::vector<Candidate> others;  ///< the fastest first, and those not compared last

  /// The fastest other candidate that could have been picked. It may be faster than the pick, if
  /// the pick ties with it and is simpler. Null if there is none.
  const Candidate* next() const noexcept;
};

/// One verdict for each group of the document. If `counts` is given, only the backends for which it
/// returns true are candidates; the noise floor is still that of all rows. Two backends tie unless
/// the 95 % interval of their ratio, paired by process, excludes 1, and the ratio differs from 1 by
/// more than 2 % and by more than the noise floor. Of the backends that tie with the fastest and
/// cost little more, the simplest method is picked, at its best ISA. Peers are compared and never
/// picked.
std::vector<Verdict> pick(const Measurements& document, const Accuracy& accuracy = {},
                          Grouping grouping = Grouping::levels,
                          const std::function<bool(const MeasuredBackend&)>& counts = {});

}  // namespace posenc::suite
