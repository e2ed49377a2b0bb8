#include "bench.h"

#include "cli/commands.h"

#include "posenc/cpu.h"
#include "posenc/presets.h"
#include "posenc/suite/measure.h"
#include "posenc/suite/measure_accuracy.h"
#include "posenc/suite/measurement_json.h"
#include "posenc/suite/memory_loops.h"
#include "posenc/suite/reference.h"
#include "posenc/support/kernels_digest.h"
#include "posenc/support/with_type.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <list>
#include <map>
#include <new>
#include <optional>

namespace posenc::bench {

using namespace suite;
namespace {

bool is_any_wrong = false;

/// The verdict on a benchmark after its first call.
struct Verdict {
  std::string error = {};  ///< empty if the output is right
  double largest = 0;      ///< largest error of the rows that were compared
};

/// Compares runs of rows at the start, at the end and in between, which cross the block edges of
/// any method.
Verdict compared(const OutputView& output, const Expected& expected) {
  constexpr std::int64_t run_rows = 8, runs = 5;
  Verdict verdict;
  std::vector<long double> written(static_cast<std::size_t>(output.columns)), exact;
  const std::int64_t count = std::min(output.rows, run_rows);
  for (std::int64_t i = 0; i < runs * count; ++i) {
    const std::int64_t row = (output.rows - count) * (i / count) / (runs - 1) + i % count;
    with_type(output.type, [&]<class T>(T) {
      const T* const values = static_cast<const T*>(output.data) + row * output.stride;
      for (std::size_t c = 0; c < written.size(); ++c) written[c] = to_double(values[c]);
    });
    exact = written;
    expected.row(row, exact);
    for (std::size_t c = 0; c < written.size(); ++c) {
      const auto error = static_cast<double>(std::fabs(written[c] - exact[c]));
      // Allow a little more than the bound, because the exact value is rounded.
      if (!(error <= expected.bound + 0x1p-60)) {
        verdict.error = fmt::format(
            "row {} column {}: got {}, expected {}, which is off by more than {:.3g}", row, c,
            static_cast<double>(written[c]), static_cast<double>(exact[c]), expected.bound);
        return verdict;
      }
      verdict.largest = std::max(verdict.largest, error);
    }
  }
  return verdict;
}

/// At least `bytes` of memory, 64-byte aligned and already touched. All benchmarks share it, and it
/// is valid until the next call that asks for more.
float* warm_memory(std::int64_t bytes) {
  static Matrix memory;
  const std::int64_t floats = (bytes + 3) / 4;
  if (memory.rows() < floats) memory = Matrix(floats, 1);
  store_loop(memory.data(), bytes);
  return memory.data();
}

/// Seconds of the clock that Google Benchmark divides by.
double now() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds of the faster store loop: the best of nine samples of at least 2 ms. Reading the clock
/// takes longer than a loop over a small table, so a sample reads it twice only.
double limit_of(std::int64_t bytes) {
  static std::map<std::int64_t, double> known;
  const auto [place, is_new] = known.try_emplace(bytes, std::numeric_limits<double>::infinity());
  if (!is_new) return place->second;
  float* const memory = warm_memory(bytes);
  for (const auto loop : {store_loop, non_temporal_store_loop}) {
    std::int64_t runs = 1;
    for (int samples = 0; samples < 9;) {
      const double begin = now();
      for (std::int64_t i = 0; i < runs; ++i) loop(memory, bytes);
      const double seconds = now() - begin;
      if (seconds < 2e-3) {
        runs *= 2;
        continue;
      }
      place->second = std::min(place->second, seconds / static_cast<double>(runs));
      ++samples;
    }
  }
  return place->second;
}

/// Times the work after its output was compared, unless there is a verdict already.
void run_checked(benchmark::State& state, const Work& work, std::optional<Verdict>& verdict) {
  using benchmark::Counter;
  const OutputView output = work.call();
  if (!verdict) verdict = compared(output, work.expected);
  state.counters["sampled_error"] = verdict->largest;
  if (!verdict->error.empty()) {
    is_any_wrong = true;
    state.SkipWithError(verdict->error.c_str());
    return;
  }
  const std::int64_t entries = output.rows * output.columns, bytes = entries * size_of(output.type);
  if (work.counts_rows) {
    state.counters["seconds_per_row"] = {static_cast<double>(output.rows),
                                         Counter::kIsIterationInvariantRate | Counter::kInvert};
  }
  const double limit = work.has_limit ? limit_of(bytes) : 0, begin = now();
  work.loop(state);
  if (work.has_limit) {
    // A ratio. Google Benchmark prints a counter that it divides by the time as a rate per second.
    state.counters["share_of_limit"] =
        limit * static_cast<double>(state.iterations()) / (now() - begin);
  }
  if (!work.counts_entries) return;
  state.SetItemsProcessed(state.iterations() * entries);
  state.SetBytesProcessed(state.iterations() * bytes);
}

}  // namespace

Table table_of(std::int64_t rows, std::int64_t d_model, DataType type) {
  return suite::table_of({.d_model = d_model}, {0, rows}, type);
}

OutputView view_of(const Table& table, void* memory) {
  return with_type(table.type, [&]<class T>(T) {
    return OutputView(static_cast<T*>(memory), table.rows.count, table.spec.d_model, table.stride);
  });
}

OutputView warm_view(const Table& table) {
  return view_of(table, warm_memory(table.rows.count * table.stride * size_of(table.type)));
}

std::vector<const Backend*> best_backends() {
  std::vector<const Backend*> best = backends_here();
  std::erase_if(best, [](const Backend* each) { return each != &backend(each->name()); });
  return best;
}

void exact_row(const EncodingSpec& spec, std::int64_t position, std::span<long double> values) {
  static std::list<Reference> kept;  // Benchmarks ask for many rows of a spec.
  auto reference = std::ranges::find(kept, spec, &Reference::spec);
  if (reference == kept.end()) reference = kept.emplace(kept.end(), spec);
  std::vector<ExactEntry> entries(values.size());
  fill_exact_row(*reference, DataType::float64, position, entries);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<long double>(entries[i].high) + entries[i].low;
}

Expected expected_at(const Encoder& encoder, std::function<std::int64_t(std::int64_t row)> position,
                     RowRange bound_rows, DataType type) {
  return {[spec = encoder.spec(), position = std::move(position)](std::int64_t row, auto values) {
            exact_row(spec, position(row), values);
          },
          encoder.error_bound(bound_rows, type)};
}

Expected expected_of(const Encoder& encoder, RowRange rows, DataType type) {
  return expected_at(
      encoder, [rows](std::int64_t row) { return rows.first + row; }, rows, type);
}

Work encoding_of(const Backend& backend, const Table& table) {
  const SharedEncoder encoder = backend.plan(table.spec);
  const EncodeOptions options = {table.threads, table.stores};
  Work work(expected_of(*encoder, table.rows, table.type),
            [encoder, view = warm_view(table), rows = table.rows, options] {
              encoder->encode(rows, view, options);
              return view;
            });
  work.has_limit = table.threads == 1;
  return work;
}

void add(const std::string& name, const std::function<Work()>& make, bool by_wall_time) {
  auto* const added = benchmark::RegisterBenchmark(
      name.c_str(), [make, verdict = std::optional<Verdict>()](benchmark::State& state) mutable {
        try {
          run_checked(state, make(), verdict);
        } catch (const InvalidArgument& refusal) {  // the backend refuses the table
          state.SkipWithError(fmt::format("not available: {}", refusal.what()).c_str());
        }
      });
  if (by_wall_time) added->UseRealTime();
}

void add(std::string_view question, const Backend& backend, const Table& table,
         const std::function<Work()>& make) {
  if (!backend.supports(table.type)) return;
  add(fmt::format("{}/{}/{}", question, backend.full_name(), benchmark_path(table)), make,
      table.threads > 1);
}

namespace {

/// Declares the flags of the program, which store values in `options`.
void add_flags(CLI::App& app, const Program& program, cli::Options& options) {
  cli::set_help(app, {{program.name, program.questions.front().text},
                      {program.example, "a table of your own"}});
  cli::add_size(app, options, cli::Values::list);
  cli::add_type(app, options, cli::Values::list, "all if a table is named");
  cli::add_threads(app, options, cli::Values::list, "1 and all if a table is named");
  if (program.add_options != nullptr) program.add_options(app, options);
  const std::vector<CLI::Option*> of_tables = app.get_options();
  const auto text_of = [](const Question& each) {
    return fmt::format("{} ({})", each.name, each.text);
  };
  CLI::Option* const question = cli::add_text(
      app, "--question", "NAME", options.questions,
      "what is asked: " + join(cli::names_of(program.questions, text_of), "; "), cli::Values::list);
  for (CLI::Option* const each : of_tables) {
    if (each != app.get_help_ptr()) question->excludes(each);
  }
}

/// Registers the benchmarks that the flags ask for.
void register_benchmarks(const Program& program, cli::Options options, bool has_flags) {
  if (has_flags && options.questions.empty()) {  // all other flags name tables
    const bool names_types = !options.types.empty();
    if (!names_types) options.types = program.types;
    for (const DataType type : options.types) {
      if (std::ranges::count(program.types, type) > 0) continue;
      throw_invalid(
          "--dtype is '{}'; allowed: {}", to_string(type),
          join(cli::names_of(program.types, [](DataType each) { return to_string(each); }), ", "));
    }
    if (options.threads.empty()) {
      options.threads = {1};
      cli::add_once(options.threads, cpu().logical_cores);
    }
    const auto backends = cli::backends_of(options);
    const Preset& usual = preset("tutorial");
    auto tables = cli::tables_of(
        options, {{.name = std::string(usual.name), .spec = usual.spec, .rows = usual.rows}});
    if (const std::string left_out = leave_out_large(tables); !left_out.empty())
      throw InvalidArgument(left_out);
    for (const MeasuredTable& each : tables) {
      for (const Backend* backend : backends)
        if (names_types && !options.backends.empty()) backend->check_supports(each.type);
      suite::plan_all(backends, each);  // throws if all backends refuse the spec
      program.add(each, backends);
    }
    return;
  }
  if (options.questions.empty()) options.questions = {program.questions.front().name};
  for (const std::string& name : options.questions) {
    const auto asked = std::ranges::find(program.questions, name, &Question::name);
    if (asked == program.questions.end()) {
      throw_invalid("--question is '{}'; allowed: {}", name,
                    join(cli::names_of(program.questions, &Question::name), ", "));
    }
    asked->add();
  }
}

}  // namespace

int run(int argc, char** argv, const Program& program) try {
  const std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
  const bool asks_for_help = std::ranges::count(all, "--help") > 0;
  cli::Options options;
  CLI::App app(cli::help_lines(program.description), program.name);
  add_flags(app, program, options);
  // Google Benchmark prints its own help after the help of the program.
  if (asks_for_help) cli::parse(app, {"--help"});
  benchmark::Initialize(&argc, argv);
  if (!cli::parse(app, {argv + std::min(argc, 1), argv + argc})) return 0;
  benchmark::AddCustomContext("cpu", cpu().model);
  benchmark::AddCustomContext("compiler", compiler());
  benchmark::AddCustomContext("compiler_flags", POSENC_FLAGS);
  benchmark::AddCustomContext("posenc_version", library_version());
  benchmark::AddCustomContext("kernels", std::string(kernels_digest()));
  benchmark::AddCustomContext("xsimd_version", xsimd_version());
  register_benchmarks(program, options, argc > 1);
  const std::size_t matches = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (matches == 0) return 2;  // Google Benchmark has printed the reason.
  return is_any_wrong ? 1 : 0;
} catch (const std::bad_alloc&) {
  cli::print_message("not enough memory", program.name);
  return 2;
} catch (const InvalidArgument& error) {
  cli::print_message(error.what(), program.name);
  return 2;
}

}  // namespace posenc::bench
