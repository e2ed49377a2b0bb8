/// @file
/// The accuracy report: the error of an encoder over given rows, against the unrounded reference.
#pragma once

#include "posenc/spec.h"
#include "posenc/suite/measurement.h"

#include <cstdint>
#include <string>
#include <vector>

namespace posenc::suite {

/// An entry whose error is among the largest.
struct WorstEntry {
  std::int64_t position = 0;  ///< the position of its row
  std::int64_t channel = 0;   ///< its column
  double got = 0;             ///< the entry
  double expected = 0;        ///< the exact value rounded to double
  double abs_error = 0;       ///< distance from the exact value
  double ulps = 0;            ///< the same distance in ulp
};

/// The errors of an octave of positions.
struct PositionError {
  RowRange rows;       ///< the rows of the report in one octave: {0}, {1}, {2, 3}, {4 .. 7}, ...
  ErrorSummary error;  ///< errors in these rows
};

/// A quantile of the errors.
struct Quantile {
  double share = 0;      ///< 0.5: the median
  double abs_error = 0;  ///< this share of the errors is at most this (rounded up, within 2 %)
  double ulps = 0;       ///< the same for the errors in ulp (rounded up, within 7 %)
};

/// One bar of the histogram of errors in ulp.
struct UlpCount {
  double above = 0;          ///< errors greater than this; the first bar also counts zeros
  double to = 0;             ///< the same errors are at most this
  std::int64_t entries = 0;  ///< number of entries
};

/// A picture of the errors: the largest one in each cell of a grid over the table.
struct ErrorMap {
  std::int64_t rows = 0;       ///< number of bands of positions, equal in size to within one row
  std::int64_t columns = 0;    ///< number of bands of channels, equal in size to within one channel
  std::vector<float> largest;  ///< largest absolute errors, row by row
};

/// The errors of one encoder over the rows of a table.
struct AccuracyReport : Measured {
  std::int64_t entries = 0;          ///< number of entries that were compared
  std::string reference;             ///< method of the reference: "long double" or "integers"
  MeasuredError error = {{}, 0, 0};  ///< errors of these entries
  Promise promise;                   ///< proven bounds
  std::int64_t wrongly_rounded = 0;  ///< number of entries that are not correctly rounded
  double max_abs_from_div_term = 0;  ///< largest difference from the float32 output of div_term
  std::vector<WorstEntry> worst_by_error;  ///< the largest absolute errors, the worst first
  std::vector<WorstEntry> worst_by_ulp;    ///< the largest errors in ulp, the worst first
  std::vector<Quantile> quantiles;         ///< 0.5, 0.9, 0.99, 0.999, 0.9999, 1
  std::vector<UlpCount> by_ulp;            ///< 0 to 1/16 ulp, to 1/8, ..., to the largest error
  std::vector<PositionError> by_position;  ///< octave by octave
  std::vector<ErrorSummary> by_channel;    ///< d_model entries
  ErrorMap map;                            ///< positions by channels

  /// The entry with the largest absolute error.
  WorstEntry worst() const { return worst_by_error.empty() ? WorstEntry{} : worst_by_error[0]; }
  /// The report as a row of a document, without times.
  Measurement measurement() const { return {*this, {}, {}, error, promise}; }
};

}  // namespace posenc::suite
