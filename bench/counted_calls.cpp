// Calls whose instructions scripts/instructions.py counts, under the names of the benchmarks:
//
//   encode/<backend>:<isa>/rows:512/d:512   and types, strides and stores, as in bench.h
//   add/<backend>:<isa>/rows:512/d:512      x + encoding
//   plan/<backend>:<isa>/d:512              planning, and destroying the encoder
//
// The program prints the versions of the compiler and of xsimd, on which the counts depend. Before
// each counted call it prints the name of the call and its number of elements. A count depends only
// on the kernels: the kind of store is fixed, because `automatic` depends on the caches, and
// backends that call libm are left out, because versions of libm differ.
#include "bench.h"

#include "posenc/suite/measurement_json.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <valgrind/callgrind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace posenc::bench {

using suite::benchmark_path;
namespace {

template <class Call>
void count(const std::string& name, std::int64_t elements, const Call& call) {
  call();  // Allocations and tables of the first call are not counted.
  fmt::print("{} {}\n", name, elements);
  CALLGRIND_TOGGLE_COLLECT;
  call();
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name.c_str());
}

/// Counts the encoding of a table. Automatic stores are replaced with plain stores, and the name
/// does not mention them.
void count_encode(const Backend& backend, const Table& table) {
  if (!backend.supports(table.type)) return;
  const auto encoder = backend.plan(table.spec);
  const OutputView out = warm_view(table);
  const bool is_plain = table.stores == StorePolicy::automatic;
  const EncodeOptions options = {1, is_plain ? StorePolicy::cached : table.stores};
  count(fmt::format("encode/{}/{}", backend.full_name(), benchmark_path(table)),
        out.rows * out.columns, [&] { encoder->encode(table.rows, out, options); });
}

void count_add(const Backend& backend) {
  const Table table = table_of(256, 512);
  const auto encoder = backend.plan(table.spec);
  float* const memory = static_cast<float*>(warm_view(table).data);
  const MatrixView<float> out = {memory, 256, 512, 512};
  const MatrixView<const float> x = {memory, 256, 512, 512};
  count(fmt::format("add/{}/{}", backend.full_name(), benchmark_path(table)), 256 * 512, [&] {
    encoder->add(table.rows, x, 1.0f, out, {1, StorePolicy::cached});
  });
}

void count_all(const Backend& backend) {
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {8, 512}, {256, 128}, {64, 4096}})
    count_encode(backend, table_of(rows, d_model));
  Table single = table_of(1, 512);
  single.rows.first = 1000;
  count_encode(backend, single);
  for (const auto& [rows, d_model] : {std::pair{256, 128}, {256, 512}, {64, 4096}}) {
    Table table = table_of(rows, d_model);
    table.stores = StorePolicy::non_temporal;
    count_encode(backend, table);
    table.stride = d_model + 3;  // Rows do not begin at cache lines.
    if (d_model == 512) count_encode(backend, table);
  }
  for (const auto type : {DataType::float64, DataType::float16, DataType::bfloat16})
    count_encode(backend, table_of(256, 512, type));
  count_add(backend);
  // Each call has a new base, so that the process has not kept its constants from an earlier call.
  EncodingSpec spec = {.d_model = 512};
  count(fmt::format("plan/{}/d:512", backend.full_name()), spec.d_model, [&] {
    static double base = 10000;
    spec.base = ++base;
    (void)backend.plan(spec);
  });
}

}  // namespace
}  // namespace posenc::bench

int main() {
  fmt::print("{}, xsimd {}\n", posenc::compiler(), posenc::xsimd_version());
  for (const posenc::Backend* backend : posenc::suite::backends_here()) {
    const std::string_view name = backend->name();
    if (name == "rotation" || name == "rotation32" || name == "xsimd")
      posenc::bench::count_all(*backend);
  }
}
