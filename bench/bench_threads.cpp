// What do more threads gain?
//
//   encode/<backend>:<isa>/rows:2048/d:1024/threads:2   one encode call, shared between two
//                                                       threads; wall time

#include "checked_encoder.h"
#include "options.h"
#include "program.h"
#include "warm_memory.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {
namespace {

std::string name_of(const Backend& backend, const TableShape& shape, int threads) {
  return fmt::format("encode/{}/{}/threads:{}", backend.full_name(), to_string(shape), threads);
}

void add_threads(const Backend& backend, const TableShape& shape, int threads) {
  const auto body = [=](benchmark::State& state, const Encoder& encoder) {
    const OutputView view = view_of(shape, warm_memory(shape.bytes()));
    for (auto _ : state) {
      encoder.encode(shape.rows, view, threads);
      benchmark::ClobberMemory();
    }
    count_elements_and_bytes(state, shape);
  };
  const Ratio speed_up = {"speed_up", {name_of(backend, shape, 1)}};
  add_checked(name_of(backend, shape, threads), backend, shape, body, {speed_up}, Clock::wall);
}

/// 2, 4, ... and all.
std::vector<int> thread_counts() {
  std::vector<int> counts;
  for (int threads = 2; threads < cpu().logical_cores; threads *= 2) counts.push_back(threads);
  counts.push_back(cpu().logical_cores);
  return counts;
}

void register_all(const BackendChoice& choice, const std::vector<int>& threads) {
  for (const TableShape& shape : {shape_of(512, 512), shape_of(2048, 1024), shape_of(8192, 4096)}) {
    begin_group();
    for (const Backend* backend : best_isa_only(select_backends(choice))) {
      add_threads(*backend, shape, 1);  // the baseline, chosen or not
      for (const int count : threads) add_threads(*backend, shape, count);
    }
  }
}

constexpr std::string_view notes = "wall time; speed-up: over one thread, in the same group\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using namespace posenc::bench;
  BackendChoice choice;
  std::vector<int> threads;
  const auto add_options = [&](CLI::App& app) {
    add_backend_options(app, choice);
    add_threads_option(app, threads, "2, 4, ... and all logical cores");
  };
  const auto register_benchmarks = [&] {
    if (choice.names.empty()) choice.names = {"rotation32", "rotation"};
    register_all(choice, threads.empty() ? thread_counts() : threads);
  };
  return run(argc, argv,
             {.name = "bench_threads",
              .description = "Times encode calls that are shared between threads, in cache and "
                             "beyond it: rotation and rotation32 unless --backend says otherwise.",
              .notes = notes,
              .add_options = add_options,
              .register_benchmarks = register_benchmarks});
}
