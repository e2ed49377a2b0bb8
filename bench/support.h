// What the benchmark binaries share: main(), defaults, context, and the check before a timing.
#pragma once

#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;  // its headers cost every file that includes them many seconds of compiling
}

namespace posenc::bench {

struct Program {
  std::string name;
  std::string description = {};
  std::string_view notes =
      {};  ///< whole lines above the table: what the columns of this binary mean
};

using AddOptions = std::function<void(CLI::App& app)>;

/// Parses the command line (the program's own options, if it adds any, then those of Google
/// Benchmark), registers, and runs. Returns the exit code: 0 good, 1 a benchmark was refused, 2 bad
/// input or nothing to run.
int run(int argc, char** argv, const Program& program, const AddOptions& add_options,
        const std::function<void()>& register_benchmarks);

/// Parses the command line. Throws CLI::Success where help is asked for, and InvalidArgument with
/// one line in this project's own words where the parser refuses it.
void parse(int argc, char** argv, CLI::App& app);

/// Says on stderr, in one line, why the program ends; returns its exit code.
int report(const CLI::App& app, const std::exception& error);

/// A further line of the header, "peers   ...", and of the JSON's context; the first of a name
/// counts. For register_benchmarks to call.
void add_header_line(const std::string& name, const std::string& text);

enum class Clock {
  thread,  ///< CPU time of the calling thread, so that other processes' turns do not count
  wall,    ///< for work that several threads share
};

/// Adds a benchmark to the group, with what all of them have: the relative_iqr over its
/// repetitions, and progress on a terminal.
void add(const std::string& name, std::function<void(benchmark::State&)> body,
         Clock clock = Clock::thread);

/// What is added from here on is shown when all of it is done, and is not interleaved with what was
/// added before.
void begin_group();

/// An encoder that is planned and compared with the reference at its first use, and kept for the
/// repetitions.
class CheckedEncoder {
 public:
  CheckedEncoder(const Backend& backend, const EncodingSpec& spec, RowRange rows,
                 DataType type = DataType::float32);
  /// Null where the encoder is wrong: the benchmark then has an error in the place of a figure.
  const Encoder* get(benchmark::State& state);

 private:
  const Backend* backend_;
  EncodingSpec spec_;
  RowRange rows_;
  DataType type_;
  std::unique_ptr<const Encoder> encoder_;
  std::string error_;
};

/// Sizes of tables, each four times the one before, from L1 (16 KiB) to memory (four times L3, at
/// most 256 MiB).
std::vector<std::int64_t> swept_bytes();

/// At least `bytes` of memory, 64-byte aligned and touched before, that the benchmarks share. Valid
/// until the next call.
float* warm_memory(std::int64_t bytes);

/// What a benchmark of copying a kept table of so many bytes does, its two rates included.
void time_copy(benchmark::State& state, std::int64_t bytes);

}  // namespace posenc::bench
