// How fast are tables encoded, and how far is that from what the memory system allows?
//
//   encode/<backend>:<isa>/preset:whisper/rows:1500/d:1280   warm memory (names: bench.h)
//   encode_fresh/<backend>:<isa>/memory:matrix/rows:512/d:512   memory that is allocated each time
//
// Without flags, the program compares the backends on three tables. --question chooses another set
// of benchmarks. --shape times every backend, ISA, type and number of threads on a table of the
// user's own.

#include "bench.h"
#include "peers.h"

#include "posenc/suite/measurement_json.h"

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

void add_encodes(const Table& table, const std::vector<const Backend*>& backends) {
  for (const Backend* backend : backends)
    add("encode", *backend, table, [=] { return encoding_of(*backend, table); });
}

/// The fastest backends at their best ISA, for questions about the memory.
std::vector<const Backend*> fast_backends() {
  return {&backend("rotation"), &backend("rotation32")};
}

/// Measures the cost of page faults. Owner is a Matrix or a vector, which is made and destroyed
/// each time.
template <class Owner, class... Sizes>
void add_fresh(const char* name, const Table& table, Sizes... sizes) {
  for (const Backend* backend : fast_backends()) {
    add(fmt::format("encode_fresh/{}/memory:{}/{}", backend->full_name(), name,
                    suite::benchmark_path(table)),
        [=] {
          const SharedEncoder encoder = backend->plan(table.spec);
          return Work{expected_of(*encoder, table.rows),
                      [=, memory = std::shared_ptr<Owner>()]() mutable {
                        memory.reset();
                        memory = std::make_shared<Owner>(sizes...);
                        const OutputView view = view_of(table, memory->data());
                        encoder->encode(table.rows, view);
                        return view;
                      }};
        });
  }
}

/// Times a table in the L1 cache, a table in the caches, and a table beyond most caches.
void compare_backends() {
  for (const auto& [rows, d_model] : {std::pair{8, 512}, {5000, 512}, {8192, 4096}})
    add_encodes(table_of(rows, d_model), best_backends());
}

/// Rows that are whole pages apart fall into few sets of a cache. With one more cache line between
/// rows, they fall into all sets. Rows that begin within a cache line also end within a line, while
/// beyond the caches, non-temporal stores write whole lines.
void compare_strides() {
  for (const auto& [rows, d_model] : {std::pair{256, 1024}, {32768, 1024}, {262144, 128}}) {
    for (const int more : {0, 16, 3}) {
      Table table = table_of(rows, d_model);
      table.stride += more;
      add_encodes(table, fast_backends());
    }
  }
}

void compare_stores() {
  for (const std::int64_t rows : {1024, 4096, 16384, 65536}) {
    for (const StorePolicy stores : {StorePolicy::cached, StorePolicy::non_temporal}) {
      Table table = table_of(rows, 1024);
      table.stores = stores;
      add_encodes(table, fast_backends());
    }
  }
}

void compare_fresh_memory() {
#ifdef M_MMAP_THRESHOLD
  // Unless this threshold is fixed, glibc keeps freed memory and hands it out again, warm.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {5000, 512}, {8192, 4096}}) {
    const Table table = table_of(rows, d_model);
    add_fresh<Matrix>("matrix", table, rows, d_model);
    add_fresh<std::vector<float>>("vector", table, static_cast<std::size_t>(rows * d_model));
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using namespace posenc::bench;
  posenc::peers::register_peers();
  return run(
      argc, argv,
      {.name = "bench_encode",
       .description = "How fast are tables encoded, and how far is that from what the memory "
                      "allows?",
       .questions = {{"backends", "how the backends compare, on three tables", compare_backends},
                     {"strides", "what rows that begin within cache lines cost", compare_strides},
                     {"stores", "whether the library chooses the faster stores", compare_stores},
                     {"fresh", "what page faults cost", compare_fresh_memory}},
       .types = {std::begin(posenc::all_data_types), std::end(posenc::all_data_types)},
       .example = "bench_encode --shape 777x768 --dtype float32,bfloat16 --threads 1,2",
       .add_options =
           [](auto& app, auto& options) {
             using namespace posenc::cli;
             add_preset(app, options, Values::list);
             add_first(app, options, Values::list);
             add_convention(app, options);
             add_backends(app, options);
           },
       .add = add_encodes});
}
