// How fast does each backend encode, and how far is that from what the memory system allows?
//
//   encode/<backend>:<isa>/preset:whisper/rows:1500/d:1280     the shapes of real systems, into warm memory
//   encode/<backend>:<isa>/rows:512/d:512                      sizes from L1 to memory
//   encode/<backend>:<isa>/first:1000000000000/rows:512/d:512  far positions
//   encode_fresh/<backend>:<isa>/preset:...                    into memory that the system has just given, page faults included

#include "limit.h"
#include "selection.h"
#include "support.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {
namespace {

/// What one benchmark encodes. The preset's name is empty in a sweep.
struct Shape {
  std::string_view preset;
  EncodingSpec spec;
  RowRange rows;

  std::int64_t elements() const { return rows.count * spec.d_model; }
  std::int64_t bytes() const { return table_bytes(spec, rows.count, sizeof(float)); }
};

Shape shape_of(const Preset& preset) { return {preset.name, preset.spec, preset.rows}; }

std::string name_of(std::string_view question, const Backend& backend, const Shape& shape) {
  std::string name = fmt::format("{}/{}", question, backend.full_name());
  if (!shape.preset.empty()) {
    name += fmt::format("/preset:{}", shape.preset);
  } else if (shape.rows.first > 0) {
    name += fmt::format("/first:{}", shape.rows.first);
  }
  return name + fmt::format("/rows:{}/d:{}", shape.rows.count, shape.spec.d_model);
}

/// Programs that read the results find the whole spec in the label; a name holds the shape alone.
std::string label_of(const Shape& shape) {
  return fmt::format("d_model={} base={} layout={} spacing={} first={} count={}", shape.spec.d_model, shape.spec.base,
                     to_string(shape.spec.layout), to_string(shape.spec.spacing), shape.rows.first, shape.rows.count);
}

void count(benchmark::State& state, const Shape& shape) {
  state.SetItemsProcessed(state.iterations() * shape.elements());
  state.SetBytesProcessed(state.iterations() * shape.bytes());
  state.SetLabel(label_of(shape));
}

/// The time at the limit over the time of the encoder: Google Benchmark divides by the latter.
void compare_with_limit(benchmark::State& state, const Shape& shape, double limit) {
  state.counters["share_of_limit"] =
      benchmark::Counter(static_cast<double>(shape.bytes()) / limit, benchmark::Counter::kIsIterationInvariantRate);
}

void add_encode(const Backend& backend, const Shape& shape) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, shape.spec, shape.rows);
  add(name_of("encode", backend, shape), [checked, shape](benchmark::State& state) {
    const Encoder* const encoder = checked->get(state);
    if (encoder == nullptr) return;
    const double limit = limit_bytes_per_second(warm_memory(shape.bytes()), shape.bytes());
    MatrixView<float> view = {warm_memory(shape.bytes()), shape.rows.count, shape.spec.d_model, shape.spec.d_model};
    for (auto _ : state) {
      encoder->encode(shape.rows, view);
      benchmark::DoNotOptimize(view.data);
      benchmark::ClobberMemory();
    }
    count(state, shape);
    compare_with_limit(state, shape, limit);
  });
}

/// Pages that no one has touched, straight from the system: an allocator would hand out warm ones again.
class FreshMemory {
 public:
  explicit FreshMemory(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        pages_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~FreshMemory() { munmap(pages_, bytes_); }
  FreshMemory(const FreshMemory&) = delete;
  FreshMemory& operator=(const FreshMemory&) = delete;
  float* data() const { return static_cast<float*>(pages_); }

 private:
  std::size_t bytes_;
  void* pages_;
};

void add_encode_fresh(const Backend& backend, const Shape& shape) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, shape.spec, shape.rows);
  add(name_of("encode_fresh", backend, shape), [checked, shape](benchmark::State& state) {
    const Encoder* const encoder = checked->get(state);
    if (encoder == nullptr) return;
    for (auto _ : state) {
      const FreshMemory memory(shape.bytes());
      encoder->encode(shape.rows, {memory.data(), shape.rows.count, shape.spec.d_model, shape.spec.d_model});
      benchmark::DoNotOptimize(memory.data());
      benchmark::ClobberMemory();
    }
    count(state, shape);
  });
}

/// Seconds that one table of the shape takes, from a few rows in its middle.
double estimate_seconds(const Backend& backend, const Shape& shape) {
  constexpr std::int64_t sampled_elements = 1 << 14;
  const std::int64_t rows = std::clamp<std::int64_t>(sampled_elements / shape.spec.d_model, 1, shape.rows.count);
  const auto encoder = backend.plan(shape.spec);
  Matrix sample(rows, shape.spec.d_model);
  double least = 0;
  for (int repetition = 0; repetition < 3; ++repetition) {
    const double begin = thread_seconds();
    encoder->encode({shape.rows.first + (shape.rows.count - rows) / 2, rows}, sample.view());
    const double seconds = thread_seconds() - begin;
    least = repetition == 0 ? seconds : std::min(least, seconds);
  }
  return least * static_cast<double>(shape.rows.count) / static_cast<double>(rows);
}

void add_presets(const std::vector<const Backend*>& backends, const std::vector<Preset>& presets) {
  for (const Preset& preset : presets) {
    for (const Backend* backend : backends) add_encode(*backend, shape_of(preset));
  }
}

/// A table that takes seconds would take minutes with its repetitions: it is left out, and said to be.
void add_quick(const std::vector<const Backend*>& backends, const std::vector<Preset>& presets) {
  constexpr double most_seconds = 2;
  for (const Preset& preset : presets) {
    for (const Backend* backend : backends) {
      const double seconds = estimate_seconds(*backend, shape_of(preset));
      if (seconds <= most_seconds) {
        add_encode(*backend, shape_of(preset));
      } else {
        fmt::print(stderr, "--quick leaves out {} on {}: about {:.1f} s a table, over {} s\n", backend->full_name(),
                   preset.name, seconds, most_seconds);
      }
    }
  }
}

void add_sweep(const std::vector<const Backend*>& backends) {
  for (const std::int64_t d_model : {64, 512}) {
    for (const std::int64_t bytes : swept_bytes()) {
      const Shape shape = {{}, {.d_model = d_model}, {0, bytes / 4 / d_model}};
      for (const Backend* backend : backends) add_encode(*backend, shape);
    }
  }
}

/// Large arguments are slow paths of many sines; a method that reduces its phases first costs the same everywhere.
void add_far_positions(const std::vector<const Backend*>& backends) {
  for (const std::int64_t first : {1'000'000LL, 1'000'000'000'000LL}) {
    for (const Backend* backend : backends) add_encode(*backend, {{}, {.d_model = 512}, {first, 512}});
  }
}

struct Options {
  bool quick = false;
  std::vector<std::string> presets;
  std::vector<std::string> backends;
};

void register_all(const Options& options) {
  const std::vector<const Backend*> backends = select_backends(options.backends);
  const std::vector<Preset> asked_for = select_presets(options.presets);
  if (options.quick) {
    // One preset for each size of table; the others differ in layout or spacing, which cost next to nothing.
    const std::vector<Preset> quick =
        select_presets({"chunk", "model_garden", "m2m_100", "tutorial", "whisper", "long_context", "wide"});
    add_quick(best_isa_only(backends), asked_for.empty() ? quick : asked_for);
  } else if (!asked_for.empty()) {
    add_presets(backends, asked_for);
  } else {
    const std::vector<Preset> all(presets().begin(), presets().end());
    add_presets(backends, all);
    add_sweep(backends);
    add_far_positions(backends);
    for (const Preset& preset : all) {
      for (const Backend* backend : best_isa_only(backends)) add_encode_fresh(*backend, shape_of(preset));
    }
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  CLI::App app("Times the encoders of all backends: presets, sizes from L1 to memory, far positions, fresh memory.",
               "bench_encode");
  posenc::bench::Options options;
  app.add_flag("--quick", options.quick, "Six presets of different sizes, best ISAs only; about a minute");
  app.add_option("--preset", options.presets, "Only this preset; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--backend", options.backends, "Only this backend, such as rotation or rotation:avx2; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  return posenc::bench::run(argc, argv, app, [&options] { posenc::bench::register_all(options); });
}
