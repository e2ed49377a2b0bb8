// Shared by the benchmark binaries: tables, encoders, and benchmarks whose output is compared with
// exact values before they are timed. Google Benchmark defines most flags and the output.
#pragma once

#include "cli/options.h"

#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/matrix.h"
#include "posenc/registry.h"
#include "posenc/spec.h"
#include "posenc/suite/measurement.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {

using Table = suite::MeasuredTable;

Table table_of(std::int64_t rows, std::int64_t d_model, DataType type = DataType::float32);

/// A view of the table in the given memory, which must be large enough.
OutputView view_of(const Table& table, void* memory);
/// A view of the table in memory that is 64-byte aligned and already touched. All benchmarks share
/// this memory. A view is valid until the next call that needs more memory.
OutputView warm_view(const Table& table);

/// The backend of each method at its best ISA.
std::vector<const Backend*> best_backends();

/// An encoder that the calls of a benchmark share.
using SharedEncoder = std::shared_ptr<const Encoder>;

/// The output that a benchmark should write.
struct Expected {
  /// Replaces the written values of a row with the expected values.
  std::function<void(std::int64_t row, std::span<long double> values)> row;
  double bound;  ///< largest allowed error of a value
};

/// The sines and cosines of a position, in the layout of the spec.
void exact_row(const EncodingSpec& spec, std::int64_t position, std::span<long double> values);

/// Expects exact rows, within the encoder's bound. expected_at() takes rows at any positions, with
/// the bound over `bound_rows`; expected_of() takes consecutive rows.
Expected expected_at(const Encoder& encoder, std::function<std::int64_t(std::int64_t row)> position,
                     RowRange bound_rows, DataType type = DataType::float32);
Expected expected_of(const Encoder& encoder, RowRange rows, DataType type = DataType::float32);

/// A timed loop of calls.
template <class Call>
std::function<void(benchmark::State&)> loop_of(Call call) {
  return [call](benchmark::State& state) mutable {
    for (auto _ : state) {
      call();
      benchmark::ClobberMemory();
    }
  };
}

/// The work of a benchmark.
struct Work {
  template <class Call>
  Work(Expected exact, const Call& writes)
      : expected(std::move(exact)), call(writes), loop(loop_of(writes)) {}

  Expected expected;
  std::function<OutputView()> call;             ///< returns the table that it writes
  std::function<void(benchmark::State&)> loop;  ///< the timed loop; by default it repeats the call
  bool counts_entries = true;                   ///< false if the loop does not write the table
  bool counts_rows = false;                     ///< if set, seconds_per_row is counted
  /// If set, the share of the limit is counted: the time of the faster store loop (plain or
  /// non-temporal) for as many bytes, divided by the time of an iteration. The loop is timed once
  /// per process and size, so a disturbance at that moment affects every share. posenc measure
  /// times the same loops between the backends.
  bool has_limit = false;
};

/// The work of writing the table into warm memory with the encoder of the backend.
Work encoding_of(const Backend& backend, const Table& table);

/// Registers a benchmark. When it runs, make() is called and returns its work. Rows of the output
/// are compared with the expected rows before the loop is timed. If a value is off by more than the
/// bound, the benchmark is skipped with an error.
void add(const std::string& name, const std::function<Work()>& make, bool by_wall_time = false);

/// Registers the benchmark question/backend/table, unless the backend cannot write the table's
/// type. It is timed by wall time if the table has several threads.
void add(std::string_view question, const Backend& backend, const Table& table,
         const std::function<Work()>& make);

/// A set of benchmarks that --question names.
struct Question {
  std::string name;
  std::string text;  ///< the question, for --help
  void (*add)();     ///< registers its benchmarks
};

/// A benchmark binary.
struct Program {
  std::string name;
  std::string description;
  std::vector<Question> questions;  ///< the first one is asked by default
  std::vector<DataType> types;      ///< element types that it can write
  std::string example;              ///< example of a command line with a shape
  /// Adds options to --shape, --rows, --d-model, --dtype and --threads, which every binary has.
  void (*add_options)(CLI::App& app, cli::Options& options) = nullptr;
  /// Registers the benchmarks of a table that the user names.
  void (*add)(const Table& table, const std::vector<const Backend*>& backends) = nullptr;
};

/// The main program. It takes Google Benchmark's flags, and the options of posenc measure that name
/// tables. If the flags name a table, the program calls add() for it, by default in every type,
/// with one thread and with all threads. Otherwise it answers the questions of --question, by
/// default the first one. Returns the exit code: 0 good, 1 a benchmark was wrong and not timed, 2
/// bad flags or no matching benchmark.
int run(int argc, char** argv, const Program& program);

}  // namespace posenc::bench
