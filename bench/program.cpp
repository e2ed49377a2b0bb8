#include "program.h"

#include "posenc/data_type.h"
#include "posenc/suite/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <utility>
#include <vector>

namespace posenc::bench {

using namespace suite;
namespace {

/// What the comparison of a benchmark found.
struct Verdict {
  std::string error;  ///< empty if it is right
  double largest = 0;
};

std::string running;  ///< the name of the benchmark that runs
std::map<std::string, Verdict> verdicts;

/// Runs of rows at the start, at the end and in between, which cross the block edges of any method.
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
      // A little more than the bound for the rounding of the exact value.
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

}  // namespace

void begin_benchmark(const std::string& name) { running = name; }

void end_benchmark() {
  if (verdicts.contains(running)) return;
  fmt::print(stderr, "{}: is timed, and was not compared with exact values\n", running);
  std::abort();
}

void exact_row(const EncodingSpec& spec, std::int64_t position, std::span<long double> values) {
  static std::list<Reference> kept;  // Benchmarks ask for many rows of a spec.
  auto reference = std::ranges::find(kept, spec, &Reference::spec);
  if (reference == kept.end()) reference = kept.emplace(kept.end(), spec);
  for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
    const ReferencePair pair = (*reference)(k, position);
    const ChannelPair channel = channels_of(spec, k);
    values[static_cast<std::size_t>(channel.sine)] = pair.sine + pair.sine_rest;
    values[static_cast<std::size_t>(channel.cosine)] = pair.cosine + pair.cosine_rest;
  }
}

bool is_right(benchmark::State& state, const Expected& expected,
              const std::function<OutputView()>& call) {
  const auto [place, is_new] = verdicts.try_emplace(running);
  if (is_new) place->second = compared(call(), expected);
  const Verdict& verdict = place->second;
  if (!verdict.error.empty()) state.SkipWithError(verdict.error.c_str());
  state.counters["sampled_error"] = verdict.largest;
  return verdict.error.empty();
}

int run(int argc, char** argv, void (*register_benchmarks)()) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_provenance();
  register_benchmarks();
  const std::size_t matches = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (matches == 0) return 2;  // Google Benchmark says so.
  const auto is_wrong = [](const auto& each) { return !each.second.error.empty(); };
  return std::any_of(verdicts.begin(), verdicts.end(), is_wrong) ? 1 : 0;
}

}  // namespace posenc::bench
