// Shared by the benchmark binaries: tables, encoders, and benchmarks whose output is compared with
// exact values before they are timed. Google Benchmark defines most flags and the output.
#pragma once

#include "cli/options.h"

#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/matrix.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/spec.h"
#include "posenc/suite/measurement.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {

struct Table : suite::MeasuredTable {
  std::int64_t offset = 0;  ///< elements before the first row; at 0, the row begins a cache line

  std::int64_t elements() const { return rows.count * spec.d_model; }
  EncodeOptions options() const { return {threads, stores}; }
};

Table table_of(std::int64_t rows, std::int64_t d_model, DataType type = DataType::float32);
Table table_of(const Preset& preset);

/// The table's part of a benchmark name: suite::benchmark_path() and the offset.
std::string to_string(const Table& table);

/// At least `bytes` of memory, 64-byte aligned and already touched. All benchmarks share it, and it
/// is valid until the next call that asks for more.
float* warm_memory(std::int64_t bytes);

/// A view of the table in the given memory, which must be large enough, or in warm memory.
OutputView view_of(const Table& table, void* memory);
OutputView warm_view(const Table& table);

/// Every backend that runs here.
std::vector<const Backend*> running_backends();
/// The backend of each method at its best ISA.
std::vector<const Backend*> best_backends();
/// The fastest backends at their best ISA, for questions about the memory.
std::vector<const Backend*> fast_backends();

/// The backend's encoder for the spec, planned once per process.
const Encoder& planned(const Backend& backend, const EncodingSpec& spec);

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
  Work(std::int64_t element_count, Expected exact, const Call& writes)
      : elements(element_count), expected(std::move(exact)), call(writes), loop(loop_of(writes)) {}

  std::int64_t elements;  ///< number of elements that an iteration writes
  Expected expected;
  std::function<OutputView()> call;             ///< returns the table that it writes
  std::function<void(benchmark::State&)> loop;  ///< the timed loop; by default it repeats the call
  std::int64_t rows = 0;  ///< rows per iteration; if set, seconds_per_row is counted
  /// If set, the share of the limit is counted: the time of the faster store loop (plain or
  /// non-temporal) for as many bytes, divided by the time of an iteration. The loop is timed once
  /// per process and size, so a disturbance at that moment affects every share. posenc measure
  /// times the same loops between the backends.
  bool has_limit = false;
};

/// The work of writing the table into warm memory with the encoder of the backend.
Work encoding_of(const Backend& backend, const Table& table);

/// The verdict on a benchmark after its first call.
struct Verdict {
  std::string error = {};  ///< empty if the output is right
  double largest = 0;      ///< largest error of the rows that were compared
};

/// Compares rows of the output with the expected rows, unless there is a verdict already, and times
/// the loop. If a value is off by more than the bound, the benchmark is skipped with an error.
void run_checked(benchmark::State& state, const Work& work, std::optional<Verdict>& verdict);

/// Registers a benchmark. When it runs, make() is called and returns its work.
template <class Make>
auto* add(const std::string& name, Make make) {
  return benchmark::RegisterBenchmark(
      name.c_str(), [make, verdict = std::optional<Verdict>()](benchmark::State& state) mutable {
        try {
          run_checked(state, make(), verdict);
        } catch (const InvalidArgument& refusal) {  // the backend refuses the table
          state.SkipWithError(fmt::format("not available: {}", refusal.what()).c_str());
        }
      });
}

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
