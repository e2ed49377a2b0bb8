// How fast are tables encoded, and how far is that from what the memory system allows?
//
//   encode/<backend>:<isa>/preset:whisper/rows:1500/d:1280   warm memory (see tables.h for names)
//   encode_fresh/<backend>:<isa>/memory:pages/rows:512/d:512 memory that the system has just given
//   encode_simply/rows:512/d:512                             posenc::encode(512, 512), which plans

#include "encoders.h"
#include "peers.h"
#include "program.h"
#include "tables.h"

#include "posenc/selection.h"

#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sys/mman.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

void encode(benchmark::State& state, const Backend* backend, const Table& table) {
  const Encoder& encoder = planned(*backend, table.spec);
  const OutputView view = warm_view(table);
  time_table(state, table, expected_of(encoder, table.rows, table.type), [&] {
    encoder.encode(table.rows, view, table.options());
    return view;
  });
}

void add_encode(const Backend& backend, const Table& table) {
  if (!backend.supports(table.type)) return;
  const std::string name = fmt::format("encode/{}/{}", backend.full_name(), to_string(table));
  add(name, encode, &backend, table);
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
/// SLEEF's beyond 125, Highway's users reduce phases beyond 39000, and libm's reduction has more
/// steps for large phases.
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
      for (const Backend* backend : fast_backends())
        add_encode(*backend, table_of(rows, d_model, type));
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

/// Pages that nobody has touched, none of them huge.
class Pages {
 public:
  explicit Pages(const Table& table)
      : bytes_(static_cast<std::size_t>(table.bytes())),
        pages_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
#ifdef MADV_NOHUGEPAGE
    madvise(pages_, bytes_, MADV_NOHUGEPAGE);
#endif
  }
  ~Pages() { munmap(pages_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const { return pages_; }

 private:
  std::size_t bytes_;
  void* pages_;
};

/// Fills itself with zeros first.
struct Vector : std::vector<float> {
  explicit Vector(const Table& table) : vector(static_cast<std::size_t>(table.elements())) {}
};

/// Has huge pages if the table is large and the system gives them.
struct OwnMatrix : Matrix {
  explicit OwnMatrix(const Table& table) : Matrix(table.rows.count, table.spec.d_model) {}
};

/// What do page faults cost? Includes giving the memory back.
template <class Memory>
void encode_fresh(benchmark::State& state, const Backend* backend, const Table& table) {
  const Encoder& encoder = planned(*backend, table.spec);
  std::optional<Memory> memory;
  const bool is_right = timed(state, expected_of(encoder, table.rows), [&] {
    memory.emplace(table);
    const OutputView view = view_of(table, memory->data());
    encoder.encode(table.rows, view);
    return view;
  });
  if (is_right) count_elements(state, table);
}

/// The call that plans for itself and allocates. Compare with encode_fresh/.../memory:matrix.
void encode_simply(benchmark::State& state, const Table& table) {
  std::optional<Matrix> made;
  const Encoder& encoder = planned(backend("rotation"), table.spec);
  const bool is_right = timed(state, expected_of(encoder, table.rows), [&] {
    made.reset();
    made = posenc::encode(table.rows.count, table.spec.d_model);
    return OutputView(made->view());
  });
  if (is_right) count_elements(state, table);
}

void add_fresh() {
#ifdef M_MMAP_THRESHOLD
  // glibc keeps freed memory, and hands it out again, warm, unless the threshold is a fixed one.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  for (const auto& [rows, d_model] : {std::pair{512, 512}, {5000, 512}, {8192, 4096}}) {
    const Table table = table_of(rows, d_model);
    add("encode_simply/" + to_string(table), encode_simply, table);
    for (const Backend* backend : fast_backends()) {
      const auto name = [&](const char* memory) {
        return fmt::format("encode_fresh/{}/memory:{}/{}", backend->full_name(), memory,
                           to_string(table));
      };
      add(name("vector"), encode_fresh<Vector>, backend, table);
      add(name("pages"), encode_fresh<Pages>, backend, table);
      add(name("matrix"), encode_fresh<OwnMatrix>, backend, table);
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
  add_fresh();
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
