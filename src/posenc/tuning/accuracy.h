// The accuracy report: the error of encoders over given rows, measured against the unrounded
// reference.
#pragma once

#include "posenc/encoder.h"
#include "posenc/export.h"
#include "posenc/spec.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace POSENC_API posenc {

/// ulp = spacing of the table's type at the exact value. max_ulp misleads near the zeros of sine,
/// max_abs does not.
struct ErrorSummary {
  double max_abs = 0;
  double max_ulp = 0;
  double rms = 0;  ///< root of the mean squared absolute error
};

struct WorstEntry {
  std::int64_t position = 0;
  std::int64_t channel = 0;
  double got = 0;
  double expected = 0;  ///< the exact value rounded to double
};

struct PositionError {
  RowRange
      rows;  ///< positions of one octave: {0}, {1}, {2, 3}, {4 .. 7}, ... cut to the report's rows
  ErrorSummary error;
};

struct Quantile {
  double share = 0;  ///< 0.5: the median
  double abs_error =
      0;  ///< that share of the entries has at most this error (an upper bound, within 2 %)
};

struct AccuracyReport {
  std::string backend;
  Isa isa = Isa::scalar;
  EncodingSpec spec;
  DataType type = DataType::float32;
  RowRange rows;
  std::int64_t entries = 0;
  std::string reference;  ///< what gave the exact values: "long double", or "integers"
  ErrorSummary error;
  double error_bound = 0;  ///< what the backend promises
  double correctly_rounded =
      0;  ///< share of entries that are the type's value nearest to the exact one
  std::int64_t wrongly_rounded = 0;  ///< the number of entries that are not
  double max_abs_from_div_term =
      0;  ///< largest |output - float32 output of div_term|: compatibility, not truth
  WorstEntry worst;
  std::vector<Quantile> quantiles;  ///< 0.5, 0.9, 0.99, 0.999, 0.9999, 1
  std::vector<PositionError> by_position;
  std::vector<ErrorSummary> by_channel;  ///< d_model entries
};

struct AccuracyOptions {
  int threads = 1;
  DataType type = DataType::float32;  ///< of the tables
  /// Called now and then with the share done, in [0, 1], from the calling thread.
  std::function<void(double)> progress;
};

/// One report for every encoder, all of one spec, over the same rows. Each exact value is computed
/// once. Throws InvalidArgument where the encoders' specs differ, one does not write the type, or
/// rows are empty or not allowed.
std::vector<AccuracyReport> measure_accuracy(std::span<const Encoder* const> encoders,
                                             RowRange rows, const AccuracyOptions& options = {});

/// Whether an encoder can be trusted to be timed: compares a few thousand entries spread over the
/// rows with the reference. Empty where all are within the encoder's own error bound; else one line
/// that names the first that is not.
std::string verify(const Encoder& encoder, RowRange rows, DataType type = DataType::float32);

}  // namespace posenc
