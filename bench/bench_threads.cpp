// What do threads gain, and what do they cost beside programs that keep CPUs busy?
//
//   threads/<backend>:<isa>/rows:512/d:512/threads:2/busy:1   beside one busy process
//
// Runs of calls with one thread and with several alternate; an iteration is a run. Counters, of the
// wall time: to_one, the median call over the median call of one thread; and likewise to_one_90,
// to_one_99 (percentiles over the same of one thread) and mean_to_one. On a machine that is not
// shared, to_one should be at most 1.1 beside any load.

#include "bench.h"

#include "posenc/cpu.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

/// Processes that do nothing, without pause.
class BusyProcesses {
 public:
  explicit BusyProcesses(int count) {
    const pid_t parent = getpid();
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child > 0) children_.push_back(child);
      if (child == 0) {
        // A process that is killed must not leave it behind.
        while (getppid() == parent) {
          for (volatile int turns = 0; turns < 1'000'000;) turns = turns + 1;
        }
        _exit(0);
      }
    }
  }
  ~BusyProcesses() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  std::vector<pid_t> children_;
};

using Times = std::vector<double>;

double percentile(const Times& sorted, std::size_t percent) {
  return sorted[(sorted.size() - 1) * percent / 100];
}
double mean(const Times& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

/// A run of calls of one kind, and then one of the other: helpers stay awake for the next call, as
/// in a program that encodes often.
Work threads(const Backend& backend, const Table& table, int busy) {
  Table of_one = table;
  of_one.threads = 1;
  Work work = encoding_of(backend, table);
  work.elements = 0;
  work.has_limit = false;
  work.loop = [=, one_call = encoding_of(backend, of_one).call,
               call = work.call](benchmark::State& state) {
    const auto append = [](Times& times, const std::function<OutputView()>& each) {
      constexpr int run_calls = 64;
      for (int i = 0; i < run_calls; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        each();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        times.push_back(seconds.count());
      }
      return std::accumulate(times.end() - run_calls, times.end(), 0.0);
    };
    const BusyProcesses load(busy);
    Times one, several;
    for (auto _ : state) {
      append(one, one_call);
      state.SetIterationTime(append(several, call));
    }
    std::sort(one.begin(), one.end());
    std::sort(several.begin(), several.end());
    state.counters["seconds_per_call"] = percentile(several, 50);
    state.counters["to_one"] = percentile(several, 50) / percentile(one, 50);
    state.counters["to_one_90"] = percentile(several, 90) / percentile(one, 90);
    state.counters["to_one_99"] = percentile(several, 99) / percentile(one, 99);
    state.counters["mean_to_one"] = mean(several) / mean(one);
  };
  return work;
}

void register_benchmarks() {
  std::set<int> counts = {2, cpu().logical_cores};
  for (int count = 4; count < cpu().logical_cores; count *= 2) counts.insert(count);
  counts.erase(1);
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {2048, 1024}, {8192, 4096}}) {
    for (const int count : counts) {
      for (const int busy : std::set{0, 1, cpu().logical_cores, 2 * cpu().logical_cores}) {
        for (const Backend* backend : fast_backends()) {
          Table table = table_of(rows, d_model);
          table.threads = count;
          add(fmt::format("threads/{}/{}/busy:{}", backend->full_name(), to_string(table), busy),
              [=] { return threads(*backend, table, busy); })
              ->UseManualTime();
        }
      }
    }
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
