// How fast are tables encoded, and how far is that from what the memory system allows?
//
//   encode/<backend>:<isa>/preset:whisper/rows:1500/d:1280   warm memory (names: bench.h)
//   encode_fresh/<backend>:<isa>/memory:matrix/rows:512/d:512   memory that is allocated each time

#include "bench.h"
#include "peers.h"

#include "posenc/cpu.h"

#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

void add_encodes(const std::vector<const Backend*>& backends, const Table& table) {
  for (const Backend* backend : backends) {
    if (!backend->supports(table.type)) continue;
    auto* const added = add(fmt::format("encode/{}/{}", backend->full_name(), to_string(table)),
                            [=] { return encoding_of(*backend, table); });
    if (table.threads > 0) added->UseRealTime();
  }
}

/// What do page faults cost? Owner is a Matrix or a vector, which is made and destroyed each time.
template <class Owner, class... Sizes>
void add_fresh(const char* name, const Table& table, Sizes... sizes) {
  for (const Backend* backend : fast_backends()) {
    add(fmt::format("encode_fresh/{}/memory:{}/{}", backend->full_name(), name, to_string(table)),
        [=] {
          const Encoder& encoder = planned(*backend, table.spec);
          return Work{table.elements(), expected_of(encoder, table.rows),
                      [=, &encoder, memory = std::shared_ptr<Owner>()]() mutable {
                        memory.reset();
                        memory = std::make_shared<Owner>(sizes...);
                        const OutputView view = view_of(table, memory->data());
                        encoder.encode(table.rows, view);
                        return view;
                      }};
        });
  }
}

void register_benchmarks() {
#ifdef M_MMAP_THRESHOLD
  // glibc keeps freed memory, and hands it out again, warm, unless the threshold is a fixed one.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  peers::register_peers();

  // Real tables, one for each size: layouts and spacings of other presets cost next to nothing.
  for (const char* name :
       {"chunk", "model_garden", "m2m_100", "tutorial", "whisper", "long_context", "wide"})
    add_encodes(running_backends(), table_of(preset_or_benchmark_shape(name)));

  // Does a row cost more if it is further out? libmvec's float32 sine is slower beyond 1e4 rad,
  // SLEEF's beyond 125, and libm's reduction has more steps for large phases.
  for (const std::int64_t first : {0LL, 100'000LL, 1'000'000'000'000LL}) {
    Table table = table_of(200, 512);
    table.rows.first = first;
    add_encodes(best_backends(), table);
  }

  // 512 KiB each. Vectors and panels of columns divide some of the widths and not others.
  for (const std::int64_t d_model : {20, 96, 1000, 4096, 4098})
    add_encodes(fast_backends(), table_of((1 << 17) / d_model, d_model));

  // Rows that are whole pages apart fall into few sets of a cache; a cache line more, and they fall
  // into all of them. Rows that begin within a cache line end in one, too: beyond the caches,
  // non-temporal stores write whole lines.
  for (const auto& [rows, d_model] : {std::pair{256, 1024}, {32768, 1024}, {262144, 128}}) {
    for (const auto& [offset, more] : {std::pair{0, 0}, {1, 0}, {0, 16}, {0, 3}}) {
      Table table = table_of(rows, d_model);
      table.offset = offset;
      table.stride = more > 0 ? d_model + more : 0;
      add_encodes(fast_backends(), table);
    }
  }

  // Half the bytes take half the time if memory decides. float32 is among the tables above.
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {131072, 128}, {8192, 4096}}) {
    for (const DataType type : {DataType::float64, DataType::float16, DataType::bfloat16})
      add_encodes(fast_backends(), table_of(rows, d_model, type));
  }

  // Is the choice of StorePolicy::automatic the faster one?
  for (const std::int64_t rows : {1024, 4096, 16384, 65536}) {
    for (const StorePolicy stores : {StorePolicy::cached, StorePolicy::non_temporal}) {
      Table table = table_of(rows, 1024);
      table.stores = stores;
      add_encodes(fast_backends(), table);
    }
  }

  // What do threads gain? By wall time. Run it beside busy processes, too.
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {2048, 1024}, {8192, 4096}}) {
    Table table = table_of(rows, d_model);
    for (table.threads = 1; table.threads <= cpu().logical_cores; table.threads *= 2)
      add_encodes(fast_backends(), table);
  }

  for (const auto& [rows, d_model] : {std::pair{512, 512}, {5000, 512}, {8192, 4096}}) {
    const Table table = table_of(rows, d_model);
    add_fresh<Matrix>("matrix", table, rows, d_model);
    add_fresh<std::vector<float>>("vector", table, static_cast<std::size_t>(table.elements()));
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
