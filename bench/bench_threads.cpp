// What do more threads gain?
//
//   encode/<backend>:<isa>/rows:2048/d:1024/threads:2     one encode call, shared between two
//                                                         threads; wall time

#include "selection.h"
#include "shape.h"
#include "support.h"
#include "yardstick.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <vector>

namespace posenc::bench {
namespace {

/// Of one thread it is 1 by definition, and not what two samples of the same differ by.
benchmark::Counter speed_up(int threads, double one_thread_seconds) {
  if (threads == 1) return {1};
  return {one_thread_seconds, benchmark::Counter::kIsIterationInvariantRate};
}

void add_threads(const Backend& backend, const Shape& shape, int threads,
                 const std::shared_ptr<Yardstick>& one_thread) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, shape.spec, shape.rows);
  const auto body = [=](benchmark::State& state) {
    const Encoder* const encoder = checked->get(state);
    if (encoder == nullptr) return;
    MatrixView<float> view = {warm_memory(shape.bytes()), shape.rows.count, shape.spec.d_model,
                              shape.spec.d_model};
    const double one_thread_seconds =
        one_thread->seconds([&] { encoder->encode(shape.rows, view); });
    for (auto _ : state) {
      encoder->encode(shape.rows, view, threads);
      benchmark::DoNotOptimize(view.data);
      benchmark::ClobberMemory();
    }
    count(state, shape);
    state.counters["speed_up"] = speed_up(threads, one_thread_seconds);
  };
  add(fmt::format("encode/{}/{}/threads:{}", backend.full_name(), to_string(shape), threads), body,
      Clock::wall);
}

/// 1, 2, 4, ... and all.
std::vector<int> thread_counts() {
  std::vector<int> counts;
  for (int threads = 1; threads < cpu().logical_cores; threads *= 2) counts.push_back(threads);
  counts.push_back(cpu().logical_cores);
  return counts;
}

void register_all(const BackendChoice& choice, const std::vector<int>& threads) {
  for (const Shape& shape : {shape_of(512, 512), shape_of(2048, 1024), shape_of(8192, 4096)}) {
    begin_group();
    for (const Backend* backend : best_isa_only(select_backends(choice))) {
      const auto one_thread = std::make_shared<Yardstick>(wall_seconds, 0.05);
      for (const int count : threads) add_threads(*backend, shape, count, one_thread);
    }
  }
}

constexpr std::string_view notes =
    "wall time; speed-up: over one thread, measured in this run, between the repetitions\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  posenc::bench::BackendChoice choice;
  std::vector<int> threads;
  const auto add_options = [&](CLI::App& app) {
    posenc::bench::add_backend_options(app, choice);
    posenc::bench::add_threads_option(app, threads, "1, 2, 4, ... and all logical cores");
  };
  const posenc::bench::Program program = {"bench_threads",
                                          "Times encode calls that are shared between threads, in "
                                          "cache and beyond it: rotation and rotation32 unless "
                                          "--backend says otherwise.",
                                          posenc::bench::notes};
  return posenc::bench::run(argc, argv, program, add_options, [&] {
    if (choice.names.empty()) choice.names = {"rotation32", "rotation"};
    posenc::bench::register_all(choice, threads.empty() ? posenc::bench::thread_counts() : threads);
  });
}
