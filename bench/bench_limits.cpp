// What does the memory system allow? Warm memory, sizes from L1 to memory, and those of the
// presets: limit/store/bytes:16384 and limit/non_temporal_store/... (baselines.h), and
//
//   limit/copy/bytes:16384   a table that is kept elsewhere, copied

#include "baselines.h"
#include "program.h"
#include "table_shape.h"

#include <fmt/format.h>

#include <set>

namespace posenc::bench {
namespace {

void register_all() {
  std::set<std::int64_t> sizes;
  for (const std::int64_t bytes : swept_bytes()) sizes.insert(bytes);
  for (const auto& named : {presets(), benchmark_shapes()}) {
    for (const Preset& each : named) sizes.insert(shape_of(each).bytes());
  }
  for (const TableShape& shape : cache_to_memory_shapes()) sizes.insert(shape.bytes());
  for (const std::int64_t bytes : sizes) {
    begin_group();
    add_store_limits(bytes);
    add_copy(fmt::format("limit/copy/bytes:{}", bytes), bytes);
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv,
                            {.name = "bench_limits",
                             .description = "Times what the memory system allows: stores, "
                                            "non-temporal stores and copies, from L1 to memory.",
                             .register_benchmarks = posenc::bench::register_all});
}
