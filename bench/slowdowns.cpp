#include "slowdowns.h"

#include "checked_encoder.h"
#include "provenance.h"
#include "table_shape.h"
#include "warm_memory.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

constexpr std::int64_t line_bytes = 64, page_bytes = 4096;

struct Variant {
  TableShape shape;
  int threads = 1;
  bool plans_every_time = false;
};

/// The first variant is the base.
struct Comparison {
  std::string_view question;
  std::vector<Variant> variants;
  Clock clock = Clock::thread;
};

TableShape with_rows(TableShape shape, std::int64_t stride, std::int64_t offset) {
  shape.stride = stride;
  shape.offset = offset;
  return shape;
}

/// Rows 0 to 199 have no phase above 201, beyond which xsimd's float32 sine falls back to scalar
/// code. From 300 on, some channels are beyond it; from 1e5 on, a quarter of them is beyond
/// libmvec's 1e4 as well; at 1e6, the first are beyond the 8e5 of xsimd's double; at 1e12, all are.
Comparison positions() {
  Comparison comparison = {"positions", {}};
  for (const std::int64_t first : {0LL, 300LL, 100'000LL, 1'000'000LL, 1'000'000'000'000LL}) {
    comparison.variants.push_back({{{}, {.d_model = 512}, {first, 200}}});
  }
  return comparison;
}

/// 512 KiB of float32 each, for the second-level cache. Vectors and panels of columns divide some
/// of the widths and not others.
Comparison widths() {
  constexpr std::int64_t elements = 1 << 17;
  Comparison comparison = {"widths", {}};
  for (const std::int64_t d_model : {512, 20, 96, 1000, 4096, 4098}) {
    comparison.variants.push_back({shape_of(elements / d_model, d_model)});
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
      comparison.variants.push_back({with_rows(shape_of(256, 512), stride, 0)});
    }
  }
  return comparison;
}

/// The rows begin at cache lines, all at the same other place, or each at another one. Beyond the
/// caches, the incomplete lines at the ends of rows cost more: non-temporal stores write whole
/// ones.
Comparison alignment(const TableShape& shape) {
  return {"alignment",
          {{shape}, {with_rows(shape, 0, 1)}, {with_rows(shape, shape.spec.d_model + 3, 0)}}};
}

/// Beyond the caches.
Comparison strides_in_memory() {
  const TableShape shape = shape_of(32768, 1024);
  return {"strides", {{with_rows(shape, 1040, 0)}, {shape}}};
}

Comparison planning(const TableShape& shape) {
  return {"planning", {{shape}, {.shape = shape, .plans_every_time = true}}};
}

Comparison threads() {
  const TableShape shape = shape_of(2048, 1024);
  Comparison comparison = {"threads", {{shape}}, Clock::wall};
  if (cpu().logical_cores > 1) comparison.variants.push_back({shape, cpu().logical_cores});
  return comparison;
}

std::vector<Comparison> comparisons(DataType type) {
  std::vector<Comparison> all = {positions(),
                                 widths(),
                                 strides(size_of(type)),
                                 alignment(shape_of(256, 512)),
                                 alignment(shape_of(131072, 128)),
                                 alignment(shape_of(32768, 512)),
                                 strides_in_memory(),
                                 planning(shape_of(100, 20)),
                                 planning(shape_of(512, 512)),
                                 threads()};
  for (Comparison& comparison : all) {
    for (Variant& each : comparison.variants) each.shape.type = type;
  }
  return all;
}

std::string name_of(const Comparison& comparison, const Variant& variant, const Backend& backend,
                    StorePolicy stores) {
  std::string name =
      fmt::format("{}/{}/{}", comparison.question, backend.full_name(), to_string(variant.shape));
  if (variant.plans_every_time) name += "/plan:included";
  if (variant.threads > 1) name += fmt::format("/threads:{}", variant.threads);
  return name + suffix_of(stores);
}

Ratio time_over_base(const Variant& variant, const Variant& base, const std::string& base_name) {
  const auto elements = static_cast<double>(variant.shape.elements());
  return {"time_over_base",
          {base_name},
          elements / static_cast<double>(base.shape.elements()),
          Quantity::time};
}

void add_variant(const Comparison& comparison, const Variant& variant, const Backend& backend,
                 StorePolicy stores) {
  const EncodeOptions options = {variant.threads, stores};
  const auto body = [=, &backend](benchmark::State& state, const Encoder& encoder) {
    const OutputView view = view_of(variant.shape, warm_memory(variant.shape.span_bytes()));
    for (auto _ : state) {
      if (variant.plans_every_time) {
        backend.plan(variant.shape.spec)->encode(variant.shape.rows, view, options);
      } else {
        encoder.encode(variant.shape.rows, view, options);
      }
      benchmark::ClobberMemory();
    }
    count_elements(state, variant.shape);
  };
  const Variant& base = comparison.variants.front();
  const std::string base_name = name_of(comparison, base, backend, stores);
  add_checked(name_of(comparison, variant, backend, stores), backend, variant.shape, body,
              {time_over_base(variant, base, base_name)}, comparison.clock);
}

}  // namespace

void add_slowdowns(const std::vector<const Backend*>& backends, StorePolicy stores, DataType type) {
  constexpr double most_seconds = 0.2;  // There are many variants.
  add_header_line(
      "base",
      "time/base is the time of an element over that in the base, the nearest line above "
      "with 1.00; first: the position of the first row, 0 unless given; stride: "
      "elements from row to row, d unless given (multiples of 4096 bytes, and a cache "
      "line more); offset: elements before the first row; times are CPU times, those "
      "of threads wall times");
  for (const Comparison& comparison : comparisons(type)) {
    begin_group();
    for (const Backend* backend :
         leave_out_slow(backends, comparison.variants.front().shape, most_seconds)) {
      if (!backend->plan({.d_model = 2})->supports(type)) continue;
      for (const Variant& each : comparison.variants)
        add_variant(comparison, each, *backend, stores);
    }
  }
}

}  // namespace posenc::bench
