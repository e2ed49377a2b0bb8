// The results in the formats of Google Benchmark's own reporters: on standard output for
// --benchmark_format, in a file for --benchmark_out.
#pragma once

#include "groups.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

namespace posenc::bench {

enum class Shown {
  all_runs,
  aggregates,  ///< no repetitions of a benchmark that has aggregates
};

/// One of Google Benchmark's reporters, to which all groups look like one run.
class FormatOutput : public Output {
 public:
  /// To standard output. `format` is "json" or "console", which has no colours here.
  FormatOutput(const std::string& format, Shown shown);

  void begin(const benchmark::BenchmarkReporter::Context& context) override;
  void add_group(const Results& results) override;
  void end() override;

 protected:
  /// Instead of to standard output.
  void write_to(std::ostream& stream);
  bool has_begun() const { return has_begun_; }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
  Shown shown_;
  std::size_t name_width_;
  bool has_begun_ = false;
};

/// A file that appears whole or not at all.
class FileOutput final : public FormatOutput {
 public:
  /// Throws InvalidArgument if the file cannot be written: before minutes of work, not after it.
  FileOutput(std::string file, const std::string& format, Shown shown);

  /// Writes the file, or nothing if names were listed and nothing was run. Throws InvalidArgument
  /// if it cannot be written after all.
  void end() override;

 private:
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string file_;
  std::ostringstream text_;
};

}  // namespace posenc::bench
