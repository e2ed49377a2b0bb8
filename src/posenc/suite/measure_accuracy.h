/// @file
/// Measures the errors of encoders over given rows, against the unrounded reference.
///
///     const auto encoder = posenc::backend("rotation").plan(spec);
///     const posenc::Encoder* encoders[] = {encoder.get()};
///     const auto reports = posenc::suite::measure_accuracy(encoders, rows);
///     const double error = reports.front().error.max_abs;
#pragma once

#include "posenc/encoder.h"
#include "posenc/suite/accuracy_report.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace posenc::suite {

/// How errors are measured.
struct AccuracyOptions {
  int threads = 1;                    ///< at least 1
  DataType type = DataType::float32;  ///< element type of the tables
  int worst = 1;                      ///< number of worst entries to list, 1 to 10000
  /// The runs of rows to compare, in order; all rows if empty. The reports still name all rows.
  std::vector<RowRange> compared = {};
  /// Called repeatedly from the calling thread with the finished share of the work in [0, 1].
  std::function<void(double)> progress;
};

/// The encoders of several backends for one table.
struct PlannedEncoders {
  std::vector<std::unique_ptr<const Encoder>> encoders;  ///< one per backend that can compute it
  std::vector<Measurement> refused;  ///< one row per other backend, with the reason why it cannot

  std::vector<const Encoder*> pointers() const;  ///< the encoders for measure_accuracy()
};

/// Plans the table with each backend. A backend that refuses the spec becomes a row of `refused`.
/// Throws InvalidArgument if all of them refuse, or if there are none.
PlannedEncoders plan_all(std::span<const Backend* const> backends, const MeasuredTable& table);

/// Returns one report per encoder over the same rows. Each exact value is computed once. Throws
/// InvalidArgument if the specs of the encoders differ, if an encoder does not support the type, or
/// if the rows are empty or not allowed.
std::vector<AccuracyReport> measure_accuracy(std::span<const Encoder* const> encoders,
                                             RowRange rows, const AccuracyOptions& options = {});

}  // namespace posenc::suite
