#include "tables.h"

#include "posenc/suite/measuring/memory_loops.h"
#include "posenc/suite/measuring/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

namespace posenc::bench {

using namespace suite;
namespace {

/// Of the clock that Google Benchmark divides by.
double now() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

using StoreLoop = void (*)(void* destination, std::int64_t bytes) noexcept;

/// Seconds of that many runs of the loop over the memory.
double seconds_of(StoreLoop loop, float* memory, std::int64_t bytes, int runs) {
  const double begin = now();
  for (int run = 0; run < runs; ++run) {
    loop(memory, bytes);
    benchmark::ClobberMemory();
  }
  return now() - begin;
}

double median_seconds(StoreLoop loop, float* memory, std::int64_t bytes) {
  constexpr double least = 2e-3;
  int runs = 1;
  while (seconds_of(loop, memory, bytes, runs) < least) runs *= 2;
  std::vector<double> samples(9);
  for (double& each : samples) each = seconds_of(loop, memory, bytes, runs) / runs;
  return median(std::move(samples));
}

double limit_of(std::int64_t bytes) {
  static std::map<std::int64_t, double> known;
  const auto [place, is_new] = known.try_emplace(bytes);
  if (is_new) {
    float* const memory = warm_memory(bytes);
    place->second = std::min(median_seconds(store_loop, memory, bytes),
                             median_seconds(non_temporal_store_loop, memory, bytes));
  }
  return place->second;
}

const char* name_of(StorePolicy stores) {
  return stores == StorePolicy::cached ? "cached" : "non_temporal";
}

}  // namespace

Table table_of(std::int64_t rows, std::int64_t d_model, DataType type) {
  return {.spec = {.d_model = d_model}, .rows = {0, rows}, .type = type};
}

Table table_of(const Preset& preset) {
  return {.spec = preset.spec, .rows = preset.rows, .preset = preset.name};
}

std::string to_string(const Table& table) {
  std::string text;
  if (!table.preset.empty()) text += fmt::format("preset:{}/", table.preset);
  if (table.rows.first > 0 && table.preset.empty())
    text += fmt::format("first:{}/", table.rows.first);
  text += fmt::format("rows:{}/d:{}", table.rows.count, table.spec.d_model);
  if (table.stride > 0) text += fmt::format("/stride:{}", table.stride);
  if (table.offset > 0) text += fmt::format("/offset:{}", table.offset);
  if (table.type != DataType::float32) text += fmt::format("/dtype:{}", to_string(table.type));
  if (table.stores != StorePolicy::automatic)
    text += fmt::format("/stores:{}", name_of(table.stores));
  if (table.threads > 0) text += fmt::format("/threads:{}", table.threads);
  return text;
}

float* warm_memory(std::int64_t bytes) {
  static Matrix memory;
  const std::int64_t floats = (bytes + 3) / 4;
  if (memory.rows() < floats) memory = Matrix(floats, 1);
  store_loop(memory.data(), bytes);
  return memory.data();
}

OutputView view_of(const Table& table, void* memory) {
  return with_type(table.type, [&]<class T>(T) {
    return OutputView(static_cast<T*>(memory) + table.offset, table.rows.count, table.spec.d_model,
                      table.row_stride());
  });
}

OutputView warm_view(const Table& table) { return view_of(table, warm_memory(table.span_bytes())); }

void count_elements(benchmark::State& state, const Table& table) {
  state.SetItemsProcessed(state.iterations() * table.elements());
  state.SetBytesProcessed(state.iterations() * table.bytes());
}

void time_table(benchmark::State& state, const Table& table, const Expected& expected,
                const std::function<OutputView()>& call) {
  if (!is_right(state, expected, call)) return;
  const double limit = limit_of(table.bytes()), begin = now();
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
  }
  const double seconds = now() - begin;
  state.counters["share_of_limit"] = limit * static_cast<double>(state.iterations()) / seconds;
  count_elements(state, table);
}

}  // namespace posenc::bench
