// Calls whose instructions scripts/instructions.py counts, under the names of the benchmarks:
//
//   encode/<backend>:<isa>/rows:512/d:512   and types, strides and stores, as in tables.h
//   add/<backend>:<isa>/rows:512/d:512      x + encoding
//   plan/<backend>:<isa>/d:512              planning, and destroying the encoder
//
// Prints compiler and xsimd, which decide the counts, then the name and the elements of each call
// before it is made. Sizes are such that a count depends on the kernels alone: stores are named,
// since `automatic` depends on the caches, and backends that call libm are left out, since its
// versions differ.
#include "encoders.h"
#include "tables.h"

#include "posenc/registry.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <valgrind/callgrind.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace {

using posenc::bench::table_of;

template <class Call>
void count(const std::string& name, std::int64_t elements, const Call& call) {
  call();  // Allocations and tables of the first call are not counted.
  fmt::print("{} {}\n", name, elements);
  CALLGRIND_TOGGLE_COLLECT;
  call();
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name.c_str());
}

void count_encode(const posenc::Backend& backend, posenc::bench::Table table) {
  if (!backend.supports(table.type)) return;
  const auto encoder = backend.plan(table.spec);
  const posenc::OutputView out = warm_view(table);
  if (table.stores == posenc::StorePolicy::automatic) table.stores = posenc::StorePolicy::cached;
  const posenc::EncodeOptions options = table.options();
  // Plain stores go without saying.
  if (table.stores == posenc::StorePolicy::cached) table.stores = posenc::StorePolicy::automatic;
  count(fmt::format("encode/{}/{}", backend.full_name(), to_string(table)), table.elements(),
        [&] { encoder->encode(table.rows, out, options); });
}

void count_add(const posenc::Backend& backend) {
  if (!backend.supports_add()) return;
  const posenc::bench::Table table = table_of(256, 512);
  const auto encoder = backend.plan(table.spec);
  float* const memory = posenc::bench::warm_memory(table.bytes());
  const posenc::MatrixView<float> out = {memory, table.rows.count, table.spec.d_model,
                                         table.spec.d_model};
  const posenc::MatrixView<const float> x = {memory, table.rows.count, table.spec.d_model,
                                             table.spec.d_model};
  count(fmt::format("add/{}/{}", backend.full_name(), to_string(table)), table.elements(), [&] {
    encoder->add(table.rows, x, 1.0f, out, {1, posenc::StorePolicy::cached});
  });
}

void count_all(const posenc::Backend& backend) {
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {8, 512}, {256, 128}, {64, 4096}})
    count_encode(backend, table_of(rows, d_model));
  posenc::bench::Table single = table_of(1, 512);
  single.rows.first = 1000;
  count_encode(backend, single);
  for (const auto& [rows, d_model] : {std::pair{256, 128}, {256, 512}, {64, 4096}}) {
    posenc::bench::Table table = table_of(rows, d_model);
    table.stores = posenc::StorePolicy::non_temporal;
    count_encode(backend, table);
    table.stride = d_model + 3;  // Rows do not begin at cache lines.
    if (d_model == 512) count_encode(backend, table);
  }
  for (const auto type :
       {posenc::DataType::float64, posenc::DataType::float16, posenc::DataType::bfloat16})
    count_encode(backend, table_of(256, 512, type));
  count_add(backend);
  // A base of its own each time, whose constants the process does not keep from an earlier call.
  posenc::EncodingSpec spec = {.d_model = 512};
  count(fmt::format("plan/{}/d:512", backend.full_name()), spec.d_model, [&] {
    static double base = 10000;
    spec.base = ++base;
    (void)backend.plan(spec);
  });
}

}  // namespace

int main() {
  fmt::print("{}, xsimd {}\n", posenc::compiler(), posenc::xsimd_version());
  for (const posenc::Backend* backend : posenc::bench::running_backends()) {
    const std::string_view name = backend->name();
    if (name == "rotation" || name == "rotation32" || name == "xsimd") count_all(*backend);
  }
}
