// What does the memory system allow? Warm memory, sizes from L1 to memory, and those of the
// presets.
//
//   limit/store/bytes:16384                plain stores of a constant
//   limit/non_temporal_store/bytes:16384   stores past the caches
//   limit/copy/bytes:16384                 a table that is kept elsewhere, copied

#include "shape.h"
#include "support.h"

#include "posenc/presets.h"
#include "store_bandwidth.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace posenc::bench {
namespace {

using StoreLoop = void (*)(void* destination, std::int64_t bytes) noexcept;

void add_store(std::string_view name, std::int64_t bytes, StoreLoop loop) {
  add(fmt::format("limit/{}/bytes:{}", name, bytes), [bytes, loop](benchmark::State& state) {
    float* destination = warm_memory(bytes);
    for (auto _ : state) {
      loop(destination, bytes);
      benchmark::DoNotOptimize(destination);
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * bytes / 4);
    state.SetBytesProcessed(state.iterations() * bytes);
  });
}

void add_copy(std::int64_t bytes) {
  add(fmt::format("limit/copy/bytes:{}", bytes),
      [bytes](benchmark::State& state) { time_copy(state, bytes); });
}

void register_all() {
  std::set<std::int64_t> sizes;
  for (const std::int64_t bytes : swept_bytes()) sizes.insert(bytes);
  for (const auto& named : {presets(), benchmark_shapes()}) {
    for (const Preset& each : named)
      sizes.insert(table_bytes(each.spec, each.rows.count, sizeof(float)));
  }
  for (const Shape& shape : cache_to_memory_shapes()) sizes.insert(shape.bytes());
  for (const std::int64_t bytes : sizes) {
    begin_group();
    add_store("store", bytes, store_loop);
    add_store("non_temporal_store", bytes, non_temporal_store_loop);
    add_copy(bytes);
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  const posenc::bench::Program program = {"bench_limits",
                                          "Times what the memory system allows: stores, "
                                          "non-temporal stores, copies, from L1 to memory."};
  return posenc::bench::run(argc, argv, program, {}, posenc::bench::register_all);
}
