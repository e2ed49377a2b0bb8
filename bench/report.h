// What a benchmark binary shows to people: one aligned line a benchmark, medians over the repetitions and their spread.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {

/// The aggregate that stands beside the median: half the interquartile range over the median.
inline constexpr const char* spread_name = "spread";

/// Shows on stderr what is being timed, where that is a terminal. An empty name clears the line.
void show_progress(std::string_view name);

/// Prints the table when all is done, in the order of registration: repetitions are interleaved at random.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  /// The header is printed before the first benchmark runs.
  explicit TableReporter(std::string header) : header_(std::move(header)) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  struct Line {
    std::int64_t order = 0;
    std::string name;
    std::string error;  ///< empty where there are figures
    double seconds = 0;
    double spread = -1;
    std::map<std::string, double> counters;
  };
  std::string header_;
  std::vector<Line> lines_;
};

}  // namespace posenc::bench
