// How fast are tables encoded, and how far is that from what the memory system allows?
//
//   encode/<backend>:<isa>/preset:whisper/rows:1500/d:1280   warm memory (names: bench.h)
//   encode_fresh/<backend>:<isa>/memory:pages/rows:512/d:512 memory that the system has just given

#include "bench.h"
#include "peers.h"

#include "posenc/cpu.h"
#include "posenc/selection.h"

#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

auto* add_encode(const Backend& backend, const Table& table) {
  return add(fmt::format("encode/{}/{}", backend.full_name(), to_string(table)),
             [&backend, table] { return encoding_of(backend, table); });
}

/// Real tables, one for each size: other presets differ in layout or spacing, which cost next to
/// nothing.
void add_presets() {
  for (const char* name :
       {"chunk", "model_garden", "m2m_100", "tutorial", "whisper", "long_context", "wide"}) {
    for (const Backend* backend : running_backends())
      add_encode(*backend, table_of(preset_or_benchmark_shape(name)));
  }
}

/// Does a row cost more if it is further out? libmvec's float32 sine is slower beyond 1e4 rad,
/// SLEEF's beyond 125, and libm's reduction has more steps for large phases.
void add_positions() {
  for (const std::int64_t first : {0LL, 100'000LL, 1'000'000'000'000LL}) {
    Table table = table_of(200, 512);
    table.rows.first = first;
    for (const Backend* backend : best_backends()) add_encode(*backend, table);
  }
}

/// 512 KiB each. Vectors and panels of columns divide some of the widths and not others.
void add_widths() {
  for (const std::int64_t d_model : {20, 96, 1000, 4096, 4098}) {
    for (const Backend* backend : fast_backends())
      add_encode(*backend, table_of((1 << 17) / d_model, d_model));
  }
}

/// Rows that are whole pages apart fall into few sets of a cache; a cache line more, and they fall
/// into all of them. Rows that begin within a cache line end in one, too: beyond the caches,
/// non-temporal stores write whole lines.
void add_places_of_rows() {
  for (const auto& [rows, d_model] : {std::pair{256, 1024}, {32768, 1024}, {262144, 128}}) {
    for (const Backend* backend : fast_backends()) {
      Table table = table_of(rows, d_model);
      add_encode(*backend, table);
      table.offset = 1;
      add_encode(*backend, table);
      table.offset = 0;
      for (const std::int64_t more : {16, 3}) {
        table.stride = d_model + more;
        add_encode(*backend, table);
      }
    }
  }
}

/// Half the bytes take half the time if memory decides. float32 is among the tables above.
void add_types() {
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {131072, 128}, {8192, 4096}}) {
    for (const DataType type : {DataType::float64, DataType::float16, DataType::bfloat16}) {
      for (const Backend* backend : fast_backends()) {
        if (backend->supports(type)) add_encode(*backend, table_of(rows, d_model, type));
      }
    }
  }
}

/// Is the choice of StorePolicy::automatic the faster one?
void add_store_policies() {
  for (const std::int64_t rows : {1024, 4096, 16384, 65536}) {
    for (const StorePolicy stores : {StorePolicy::cached, StorePolicy::non_temporal}) {
      Table table = table_of(rows, 1024);
      table.stores = stores;
      for (const Backend* backend : fast_backends()) add_encode(*backend, table);
    }
  }
}

/// What do threads gain? By wall time. Run it beside busy processes, too.
void add_threads() {
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {2048, 1024}, {8192, 4096}}) {
    Table table = table_of(rows, d_model);
    for (table.threads = 1; table.threads <= cpu().logical_cores; table.threads *= 2) {
      for (const Backend* backend : fast_backends()) add_encode(*backend, table)->UseRealTime();
    }
  }
}

using Memory = std::shared_ptr<void>;
using Allocate = Memory (*)(const Table&);

/// Pages that nobody has touched, none of them huge.
Memory pages(const Table& table) {
  const auto bytes = static_cast<std::size_t>(table.elements()) * sizeof(float);
  void* const all =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef MADV_NOHUGEPAGE
  madvise(all, bytes, MADV_NOHUGEPAGE);
#endif
  return {all, [bytes](void* memory) { munmap(memory, bytes); }};
}

/// Has huge pages if the table is large and the system gives them.
Memory matrix(const Table& table) {
  const auto all = std::make_shared<Matrix>(table.rows.count, table.spec.d_model);
  return {all, all->data()};
}

/// What do page faults cost? Includes giving the memory back.
Work encode_fresh(const Backend& backend, const Table& table, Allocate allocate) {
  const Encoder& encoder = planned(backend, table.spec);
  return {table.elements(), expected_of(encoder, table.rows),
          [=, &encoder, memory = Memory()]() mutable {
            memory.reset();
            memory = allocate(table);
            const OutputView view = view_of(table, memory.get());
            encoder.encode(table.rows, view);
            return view;
          }};
}

void add_fresh() {
#ifdef M_MMAP_THRESHOLD
  // glibc keeps freed memory, and hands it out again, warm, unless the threshold is a fixed one.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {5000, 512}, {8192, 4096}}) {
    const Table table = table_of(rows, d_model);
    const std::string size = to_string(table);
    for (const Backend* backend : fast_backends()) {
      for (const auto& [name, allocate] :
           {std::pair<const char*, Allocate>{"pages", pages}, {"matrix", matrix}}) {
        add(fmt::format("encode_fresh/{}/memory:{}/{}", backend->full_name(), name, size),
            [=, make = allocate] { return encode_fresh(*backend, table, make); });
      }
    }
  }
}

void register_benchmarks() {
  peers::register_peers();
  if (!peers::missing_peers().empty())
    benchmark::AddCustomContext("missing_peers", std::string(peers::missing_peers()));
  add_presets();
  add_positions();
  add_widths();
  add_places_of_rows();
  add_types();
  add_store_policies();
  add_threads();
  add_fresh();
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
