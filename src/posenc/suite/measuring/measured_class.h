/// @file
/// The measurements of a document, by class of table sizes: what selection and pick judge.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/suite/measuring/measurement.h"

#include <cstddef>
#include <string>
#include <vector>

namespace posenc::suite {

/// One backend over all tables of a class.
struct Candidate {
  std::string backend;        ///< "rotation"
  std::string isa;            ///< "avx2"
  Role role = Role::backend;  ///< peers are compared, and never picked
  std::size_t method = 0;     ///< place of its method in the document, the simplest first
  Promise promise;            ///< the weakest of its tables
  double max_abs = 0;         ///< largest measured error, over all tables
  double max_ulp = 0;         ///< the same in ulp
  bool keeps_promise = true;  ///< on every table
  /// One value per process: the geometric mean, over the tables, of the seconds for an entry. Empty
  /// unless it was timed on every table of the class.
  std::vector<double> seconds_per_entry;
  double gfloats_per_second = 0;  ///< geometric mean over the tables; 0 if not timed
  double relative_iqr = 0;        ///< of the noisiest table: half the IQR over the median

  std::string full_name() const;  ///< "rotation:avx2"
};

/// The candidates of one shape class, element type and number of threads.
struct MeasuredClass {
  ShapeClass shape = ShapeClass::memory;  ///< of its tables
  DataType type = DataType::float32;      ///< of its tables
  int threads = 1;                        ///< that encoded them
  std::vector<std::string> tables;        ///< names
  double noise_floor = 0;                 ///< largest relative difference of a backend from itself
  std::vector<Candidate> candidates;      ///< in the order of the document

  std::string text() const;  ///< "l2, float32, 1 thread"
};

/// The classes of a document, by size. Dense tables that are stored as the library decides count;
/// limits are no candidates.
std::vector<MeasuredClass> classes_of(const Measurements& document);

/// The largest noise floor of its classes.
double noise_floor_of(const Measurements& document);

/// The class with this shape and type, and the largest number of threads up to `threads`; null if
/// there is none.
const MeasuredClass* find_class(const std::vector<MeasuredClass>& classes, ShapeClass shape,
                                DataType type, int threads) noexcept;

}  // namespace posenc::suite
