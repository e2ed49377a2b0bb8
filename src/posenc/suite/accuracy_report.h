/// @file
/// The accuracy report: the error of encoders over given rows, against the unrounded reference.
///
///     const auto encoder = posenc::backend("rotation").plan(spec);
///     const posenc::Encoder* encoders[] = {encoder.get()};
///     const double error = posenc::measure_accuracy(encoders, rows).front().error.max_abs;
#pragma once

#include "posenc/encoder.h"
#include "posenc/spec.h"
#include "posenc/suite/measuring/measurement.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace posenc::suite {

/// The entry with the largest absolute error.
struct WorstEntry {
  std::int64_t position = 0;  ///< of its row
  std::int64_t channel = 0;   ///< its column
  double got = 0;             ///< the entry
  double expected = 0;        ///< the exact value rounded to double
};

/// The errors of an octave of positions.
struct PositionError {
  RowRange rows;       ///< the rows of the report in one octave: {0}, {1}, {2, 3}, {4 .. 7}, ...
  ErrorSummary error;  ///< of these rows
};

/// A quantile of the absolute errors.
struct Quantile {
  double share = 0;      ///< 0.5: the median
  double abs_error = 0;  ///< this share of the errors is at most this (rounded up, within 2 %)
};

/// The errors of one encoder over the rows of a table.
struct AccuracyReport : Measured {
  std::int64_t entries = 0;          ///< that were compared
  std::string reference;             ///< method of the reference: "long double" or "integers"
  MeasuredError error = {{}, 0, 0};  ///< of these entries
  Promise promise;                   ///< proven bounds
  std::int64_t wrongly_rounded = 0;  ///< number of entries that are not correctly rounded
  double max_abs_from_div_term = 0;  ///< largest difference from the float32 output of div_term
  WorstEntry worst;                  ///< by absolute error
  std::vector<Quantile> quantiles;   ///< 0.5, 0.9, 0.99, 0.999, 0.9999, 1
  std::vector<PositionError> by_position;  ///< octave by octave
  std::vector<ErrorSummary> by_channel;    ///< d_model entries

  /// Its row in a document, without times.
  Measurement measurement() const { return {*this, {}, {}, error, promise}; }
};

/// How errors are measured.
struct AccuracyOptions {
  int threads = 1;                    ///< at least 1
  DataType type = DataType::float32;  ///< of the tables
  /// Called repeatedly from the calling thread, with the finished share of the work in [0, 1].
  std::function<void(double)> progress;
};

/// One report per encoder, over the same rows. Each exact value is computed once. Throws
/// InvalidArgument if the encoders' specs differ, an encoder does not support the type, or the rows
/// are empty or not allowed.
std::vector<AccuracyReport> measure_accuracy(std::span<const Encoder* const> encoders,
                                             RowRange rows, const AccuracyOptions& options = {});

}  // namespace posenc::suite
