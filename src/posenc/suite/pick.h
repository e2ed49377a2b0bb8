/// @file
/// Verdicts on a document of measurements: the fastest backend that promises an accuracy, for each
/// table and for each class of table sizes.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/data_type.h"
#include "posenc/suite/candidate.h"
#include "posenc/suite/measurement.h"
#include "posenc/suite/shape_class.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace posenc::suite {

/// The tables that share a verdict.
enum class Grouping {
  levels,  ///< tables that fit in the same cache, of one element type and number of threads
  tables,  ///< each table alone
};

/// The candidates of one group of tables: a shape class or a single table, with one element type
/// and one number of threads.
struct MeasuredClass {
  Grouping grouping = Grouping::levels;    ///< kind of the group
  ShapeClass shape = ShapeClass::memory;   ///< smallest cache that its tables fit in, or memory
  DataType type = DataType::float32;       ///< element type of its tables
  int threads = 1;                         ///< number of threads that encoded its tables
  std::vector<MeasuredTable> tables = {};  ///< in the order of the document
  double noise_floor = 0;                  ///< largest relative difference of a backend from itself
  std::vector<Candidate> candidates = {};  ///< in the order of the document

  /// "l2, float32, 1 thread"; for a single table, MeasuredTable::text().
  std::string text() const;
};

/// The groups of a document: levels by size, or tables in the order of the document. Only dense
/// tables with StorePolicy::automatic count. Limits are no candidates.
std::vector<MeasuredClass> classes_of(const Measurements& document,
                                      Grouping grouping = Grouping::levels);

/// The largest noise floor of the document's classes.
double noise_floor_of(const Measurements& document);

/// The pick of one class, and the other candidates.
struct Verdict {
  MeasuredClass measured;         ///< the class that was judged
  std::optional<Candidate> pick;  ///< none if no backend promises the accuracy
  /// The fastest first; candidates that were not compared come last.
  std::vector<Candidate> others;

  /// The fastest other candidate that could have been picked; null if there is none. It may be
  /// faster than the pick if the pick ties with it and is simpler.
  const Candidate* next() const noexcept;
};

/// Returns one verdict for each group of the document. If `counts` is given, only backends for
/// which it returns true are candidates; the noise floor still comes from all rows.
///
/// Two backends differ if the 95 % interval of their ratio, paired by process, excludes 1, and the
/// ratio also differs from 1 by more than 2 % and by more than the noise floor. Otherwise, they
/// tie. Among the backends that tie with the fastest and cost little more, the simplest method is
/// picked, at its best ISA. Peers are compared, but never picked.
std::vector<Verdict> pick(const Measurements& document, const Accuracy& accuracy = {},
                          Grouping grouping = Grouping::levels,
                          const std::function<bool(const MeasuredBackend&)>& counts = {});

}  // namespace posenc::suite
