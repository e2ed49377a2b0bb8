// A table that is encoded, stored or copied again and again to be timed. Internal: not installed.
#pragma once

#include "posenc/matrix.h"
#include "posenc/suite/measuring/measurement.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace posenc::suite {

/// Memory for a table, touched, so that nobody pays for its first touch.
class TableMemory {
 public:
  explicit TableMemory(const MeasuredTable& table);
  const OutputView& view() const { return *view_; }

 private:
  Matrix memory_;
  std::optional<OutputView> view_;
};

/// A row of a document at work: the number of rows of its table that fill one sample.
class TimedTable {
 public:
  /// The memory must outlive this object.
  TimedTable(const Measurement& what, const OutputView& memory, double seconds_per_sample);

  /// Warms caches, page tables, threads and clocks, and finds how many rows fill a sample.
  void warm_up();
  /// Times one sample. Returns seconds per table.
  double sample();

 private:
  std::int64_t rows_for(double rows) const;
  double work();

  const MeasuredTable& table_;
  const OutputView& memory_;
  double seconds_per_sample_;
  std::function<void(RowRange rows, const OutputView& out)> write_;
  std::int64_t rows_per_sample_ = 1;
  std::int64_t next_ = 0;  ///< the row of the table that the next sample begins at
};

}  // namespace posenc::suite
