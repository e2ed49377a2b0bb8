/// @file
/// The verdict on a document of measurements: the fastest backend that promises an accuracy, for
/// each class of table sizes.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/suite/measuring/measured_class.h"
#include "posenc/suite/measuring/measurement.h"

#include <limits>
#include <optional>
#include <vector>

namespace posenc::suite {

/// A candidate beside the pick.
struct JudgedCandidate {
  Candidate candidate;    ///< of the class
  bool promises = false;  ///< the accuracy, on every table, and keeps it
  bool compared = false;  ///< promises, and is timed on every table
  // Of a compared candidate:
  double ratio = 0;  ///< its time over that of the pick, paired by process
  double low = 0;    ///< of the ratio's 95 % interval
  double high = std::numeric_limits<double>::infinity();  ///< of the same interval
  bool tied = false;                                      ///< with the fastest
};

/// The pick of one class, and the candidates beside it.
struct Verdict {
  MeasuredClass measured;               ///< the class that it is of
  std::optional<JudgedCandidate> pick;  ///< none if no backend promises the accuracy
  std::vector<JudgedCandidate> others;  ///< the fastest first, and those not compared last

  /// The fastest other candidate that could have been picked. It may be faster than the pick, if
  /// the pick ties with it and is simpler. Null if there is none.
  const JudgedCandidate* next() const noexcept;
};

/// One verdict for each class of the document. Two backends tie unless the 95 % interval of their
/// ratio, paired by process, excludes 1, and the ratio differs from 1 by more than 2 % and by more
/// than the noise floor. Of the backends that tie with the fastest and cost little more, the
/// simplest method is picked, at its best ISA. Peers are compared and never picked.
std::vector<Verdict> pick(const Measurements& document, const Accuracy& accuracy = {});

}  // namespace posenc::suite
