#include "cliffs.h"

#include "shape.h"
#include "support.h"
#include "yardstick.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

constexpr std::int64_t line_bytes = 64, page_bytes = 4096;

struct Case {
  Shape shape;
  int threads = 1;
  bool plans_every_time = false;
};

/// The first case is the base.
struct Comparison {
  std::string_view question;
  std::vector<Case> cases;
  Clock clock = Clock::thread;
};

Shape with_rows(Shape shape, std::int64_t stride, std::int64_t offset) {
  shape.stride = stride;
  shape.offset = offset;
  return shape;
}

/// Rows 0 to 199 have no phase above 201, where xsimd's float32 sine falls to scalar code. From 300
/// on some channels have, from 1e5 on a quarter of them is beyond libmvec's 1e4 as well, at 1e6 the
/// first are beyond the 8e5 of xsimd's double, and at 1e12 all are.
Comparison positions() {
  Comparison comparison = {"positions", {}};
  for (const std::int64_t first : {0LL, 300LL, 100'000LL, 1'000'000LL, 1'000'000'000'000LL}) {
    comparison.cases.push_back({{{}, {.d_model = 512}, {first, 200}}});
  }
  return comparison;
}

/// 512 KiB of float32 each, for the second-level cache. Vectors and blocks of columns divide some
/// of the widths and not others.
Comparison widths() {
  constexpr std::int64_t elements = 1 << 17;
  Comparison comparison = {"widths", {}};
  for (const std::int64_t d_model : {512, 20, 96, 1000, 4096, 4098}) {
    comparison.cases.push_back({shape_of(elements / d_model, d_model)});
  }
  return comparison;
}

/// Rows that are a multiple of a page apart fall into few sets of a cache; those a line further
/// apart fall into all of them.
Comparison strides(std::int64_t element_bytes) {
  Comparison comparison = {"strides", {}};
  for (const std::int64_t pages : {1, 4}) {
    for (const std::int64_t padding : {line_bytes, std::int64_t{0}}) {
      const std::int64_t stride = (pages * page_bytes + padding) / element_bytes;
      comparison.cases.push_back({with_rows(shape_of(256, 512), stride, 0)});
    }
  }
  return comparison;
}

/// The stride is no multiple of a cache line, so that nearly every row begins elsewhere within one.
Comparison alignment() {
  const Shape shape = shape_of(256, 512);
  return {"alignment",
          {{shape}, {with_rows(shape, 0, 1)}, {with_rows(shape, shape.spec.d_model + 3, 0)}}};
}

/// Only aligned rows can be stored past the caches.
Comparison alignment_in_memory() {
  const Shape shape = shape_of(131072, 128);
  return {"alignment", {{shape}, {with_rows(shape, 0, 1)}}};
}

Comparison planning(const Shape& shape) {
  return {"planning", {{shape}, {.shape = shape, .plans_every_time = true}}};
}

Comparison threads() {
  const Shape shape = shape_of(2048, 1024);
  Comparison comparison = {"threads", {{shape}}, Clock::wall};
  if (cpu().logical_cores > 1) comparison.cases.push_back({shape, cpu().logical_cores});
  return comparison;
}

std::vector<Comparison> comparisons(DataType type) {
  std::vector<Comparison> all = {positions(),
                                 widths(),
                                 strides(size_of(type)),
                                 alignment(),
                                 alignment_in_memory(),
                                 planning(shape_of(100, 20)),
                                 planning(shape_of(512, 512)),
                                 threads()};
  for (Comparison& comparison : all) {
    for (Case& each : comparison.cases) each.shape.type = type;
  }
  return all;
}

/// A case with the backend that encodes it.
class Encoding {
 public:
  Encoding(const Backend& backend, const Case& of, StorePolicy stores)
      : backend_(&backend),
        case_(of),
        options_(of.threads, stores),
        checked_(backend, of.shape.spec, of.shape.rows, of.shape.type) {}

  const Shape& shape() const { return case_.shape; }

  std::string name(std::string_view question) const {
    std::string name =
        fmt::format("{}/{}/{}", question, backend_->full_name(), to_string(case_.shape));
    if (case_.plans_every_time) name += "/plan:included";
    if (case_.threads > 1) name += fmt::format("/threads:{}", case_.threads);
    return name + suffix_of(options_.stores);
  }

  /// False where the encoder is wrong.
  bool check(benchmark::State& state) {
    kept_ = checked_.get(state);
    return kept_ != nullptr;
  }

  void encode(void* memory) const {
    const OutputView view = view_of(case_.shape, memory);
    if (case_.plans_every_time) {
      backend_->plan(case_.shape.spec)->encode(case_.shape.rows, view, options_);
    } else {
      kept_->encode(case_.shape.rows, view, options_);
    }
  }

 private:
  const Backend* backend_;
  Case case_;
  EncodeOptions options_;
  CheckedEncoder checked_;
  const Encoder* kept_ = nullptr;
};

/// The base of a comparison, and its time in this run.
struct Base {
  Encoding encoding;
  Yardstick yardstick;
};

/// Time of an element over that in the base.
benchmark::Counter over_base(const Shape& shape, const Shape& base, double base_seconds) {
  using benchmark::Counter;
  const double elements =
      static_cast<double>(shape.elements()) / static_cast<double>(base.elements());
  return {base_seconds * elements, Counter::kIsIterationInvariantRate | Counter::kInvert};
}

void add_case(const Comparison& comparison, const std::shared_ptr<Base>& base,
              const std::shared_ptr<Encoding>& encoding) {
  const auto body = [=](benchmark::State& state) {
    if (!base->encoding.check(state) || !encoding->check(state)) return;
    void* memory =
        warm_memory(std::max(base->encoding.shape().span_bytes(), encoding->shape().span_bytes()));
    const double base_seconds = base->yardstick.seconds([=] { base->encoding.encode(memory); });
    for (auto _ : state) {
      encoding->encode(memory);
      benchmark::DoNotOptimize(memory);
      benchmark::ClobberMemory();
    }
    count_elements(state, encoding->shape());
    const bool is_base = encoding.get() == &base->encoding;
    if (!is_base)
      state.counters["over_base"] =
          over_base(encoding->shape(), base->encoding.shape(), base_seconds);
  };
  add(encoding->name(comparison.question), body, comparison.clock);
}

void add_comparison(const Comparison& comparison, const Backend& backend, StorePolicy stores) {
  // Longer samples than usual: a few percent are told apart. Wall time needs such that other
  // processes have a like share of each.
  const Yardstick yardstick = comparison.clock == Clock::wall ? Yardstick(wall_seconds, 0.05)
                                                              : Yardstick(thread_seconds, 0.005);
  const auto base =
      std::make_shared<Base>(Base{Encoding(backend, comparison.cases.front(), stores), yardstick});
  add_case(comparison, base, {base, &base->encoding});
  for (std::size_t i = 1; i < comparison.cases.size(); ++i) {
    add_case(comparison, base, std::make_shared<Encoding>(backend, comparison.cases[i], stores));
  }
}

}  // namespace

void add_slowdowns(const std::vector<const Backend*>& backends, StorePolicy stores, DataType type) {
  // The base is timed beside every repetition of every case.
  constexpr double most_seconds = 0.2;
  add_header_line("cliffs",
                  "x base: time of an element over that in the base, the nearest line above that "
                  "has no figure; first: the "
                  "position of the first row, 0 unless given; stride: elements from row to row, d "
                  "unless given (multiples of "
                  "4096 bytes, and a cache line more); offset: elements before the first row; "
                  "times are CPU times, those of "
                  "threads wall times");
  for (const Comparison& comparison : comparisons(type)) {
    begin_group();
    for (const Backend* backend :
         leave_out_slow(backends, comparison.cases.front().shape, most_seconds)) {
      if (backend->plan({.d_model = 2})->supports(type))
        add_comparison(comparison, *backend, stores);
    }
  }
}

}  // namespace posenc::bench
