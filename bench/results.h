// Where the results of a benchmark binary go besides its table: --benchmark_format, --benchmark_out
// and --benchmark_out_format, in the formats of Google Benchmark's own reporters.
#pragma once

#include "groups.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {

/// The value of a flag of Google Benchmark, such as "benchmark_out": the last among the arguments,
/// else the one in the environment (BENCHMARK_OUT). None if it is empty.
std::optional<std::string> flag_value(std::string_view flag,
                                      const std::vector<std::string>& arguments);

/// Throws InvalidArgument if the flag has a value that is no format.
void check_format(std::string_view flag, const std::vector<std::string>& arguments);

/// The file of --benchmark_out, which appears whole or not at all.
class ResultFile {
 public:
  /// Before minutes of work, not after: throws InvalidArgument if the file cannot be written.
  ResultFile(std::string file, const std::string& format);

  benchmark::BenchmarkReporter& reporter() { return *joining_; }
  /// Throws InvalidArgument if the file cannot be written after all.
  void finish();

 private:
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string file_;
  std::ostringstream text_;
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
  std::unique_ptr<JoiningReporter> joining_;
};

}  // namespace posenc::bench
