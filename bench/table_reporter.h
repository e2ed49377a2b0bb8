// What a benchmark binary shows to people: one aligned line a benchmark, medians over the
// repetitions and their relative_iqr.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {

/// The aggregate that stands beside the median: half the interquartile range over the median.
inline constexpr const char* relative_iqr_name = "relative_iqr";

/// Shows on stderr what is being timed, where that is a terminal. An empty name clears the line.
void show_progress(std::string_view name);

/// Prints the lines of each group of benchmarks when it is done, in the order of registration:
/// repetitions are interleaved at random within it. The columns are as wide as in the groups
/// before, or wider.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  /// The header is printed before the first benchmark runs.
  explicit TableReporter(std::string header) : header_(std::move(header)) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;  ///< of one group

 private:
  struct Line {
    std::int64_t order = 0;
    std::string name;
    std::string error;  ///< empty where there are figures
    double seconds = 0;
    double relative_iqr = -1;
    std::map<std::string, double> counters;
  };
  struct Column {
    std::string title;
    bool on_the_left;
    std::vector<std::string> cells;
  };
  std::vector<Column> columns() const;
  /// True if the titles must be printed anew.
  bool widen(const std::vector<Column>& columns);
  std::vector<std::string> texts(const std::vector<Column>& columns) const;

  std::string header_;
  std::vector<Line> lines_;
  std::map<std::string, std::size_t> widths_;  ///< by title, of the columns printed so far
};

}  // namespace posenc::bench
