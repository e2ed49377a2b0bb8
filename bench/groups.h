// Benchmarks that are compared with each other form a group: Google Benchmark runs each group by
// itself, its repetitions interleaved at random, so that results can be shown when a group is done
// and not after all.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {

/// Makes one run of the runs of several groups, for a reporter that knows of one run alone.
class JoiningReporter : public benchmark::BenchmarkReporter {
 public:
  /// `name_width`: of the longest name of all groups.
  JoiningReporter(benchmark::BenchmarkReporter& joined, std::size_t name_width)
      : joined_(joined), name_width_(name_width) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;  ///< of one group
  void finish();             ///< of all
  bool has_begun() const { return has_begun_; }

 private:
  benchmark::BenchmarkReporter& joined_;
  std::size_t name_width_;
  bool has_begun_ = false;
  bool is_wanted_ = false;
  std::int64_t first_family_ = 0;  ///< families are counted from 0 in each group
  std::int64_t next_family_ = 0;
};

/// The longest name of all benchmarks that were added.
std::size_t longest_name();

/// A name of them, for messages; empty if there is none.
std::string_view any_name();

/// Runs what the filter takes of each group in turn. `file` may be null. Returns how many
/// benchmarks matched.
std::size_t run_groups(benchmark::BenchmarkReporter& display, benchmark::BenchmarkReporter* file);

}  // namespace posenc::bench
