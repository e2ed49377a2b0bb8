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

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace posenc::suite {

/// How errors are measured.
struct AccuracyOptions {
  int threads = 1;                    ///< at least 1
  DataType type = DataType::float32;  ///< of the tables
  int worst = 1;                      ///< number of worst entries to list, 1 to 10000
  /// Called repeatedly from the calling thread, with the finished share of the work in [0, 1].
  std::function<void(double)> progress;
};

/// The encoders of several backends for one table.
struct PlannedEncoders {
  std::vector<std::unique_ptr<const Encoder>> encoders;  ///< of the backends that can compute it
  std::vector<Measurement> refused;  ///< one row per other backend, which says why it cannot

  std::vector<const Encoder*> pointers() const;  ///< for measure_accuracy()
};

/// Plans the table with each backend. A backend that refuses the spec becomes a row of `refused`.
/// Throws InvalidArgument if all of them refuse, or there are none.
PlannedEncoders plan_all(std::span<const Backend* const> backends, const MeasuredTable& table);

/// One report per encoder, over the same rows. Each exact value is computed once. Throws
/// InvalidArgument if the encoders' specs differ, an encoder does not support the type, or the rows
/// are empty or not allowed.
std::vector<AccuracyReport> measure_accuracy(std::span<const Encoder* const> encoders,
                                             RowRange rows, const AccuracyOptions& options = {});

/// measure_accuracy() of a table of which these runs of rows are compared, in order. The rows of
/// the reports are the whole table's.
std::vector<AccuracyReport> measure_accuracy(std::span<const Encoder* const> encoders,
                                             RowRange table, std::span<const RowRange> compared,
                                             const AccuracyOptions& options);

}  // namespace posenc::suite
