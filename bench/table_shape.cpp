#include "table_shape.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

namespace posenc::bench {
namespace {

/// Seconds that one table of the shape takes, from a few rows in its middle.
double estimate_seconds(const Backend& backend, const TableShape& shape) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t sampled_elements = 1 << 14;
  const std::int64_t rows =
      std::clamp<std::int64_t>(sampled_elements / shape.spec.d_model, 1, shape.rows.count);
  const auto encoder = backend.plan(shape.spec);
  Matrix sample(rows, shape.spec.d_model);
  double least = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto begin = Clock::now();
    encoder->encode({.first = shape.rows.first + (shape.rows.count - rows) / 2, .count = rows},
                    sample.view());
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return least * static_cast<double>(shape.rows.count) / static_cast<double>(rows);
}

/// "300", and "1e12", whose zeros nobody wants to count.
std::string position_text(std::int64_t position) {
  int zeros = 0;
  for (; position > 0 && position % 10 == 0; position /= 10) ++zeros;
  return zeros < 5 ? fmt::format("{}{:0>{}}", position, "", zeros)
                   : fmt::format("{}e{}", position, zeros);
}

}  // namespace

TableShape shape_of(const Preset& preset) { return {preset.name, preset.spec, preset.rows}; }

TableShape shape_of(std::int64_t rows, std::int64_t d_model) {
  return {{}, {.d_model = d_model}, {0, rows}};
}

TableShape with_type_of(TableShape shape, DataType type) {
  shape.type = type;
  return shape;
}

OutputView view_of(const TableShape& shape, void* memory) {
  return with_type(shape.type, [&]<class T>(T) {
    return OutputView(static_cast<T*>(memory) + shape.offset, shape.rows.count, shape.spec.d_model,
                      shape.row_stride());
  });
}

std::string to_string(const TableShape& shape) {
  std::string text;
  if (!shape.preset.empty()) {
    text = fmt::format("preset:{}/", shape.preset);
  } else if (shape.rows.first > 0) {
    text = fmt::format("first:{}/", position_text(shape.rows.first));
  }
  text += fmt::format("rows:{}/d:{}", shape.rows.count, shape.spec.d_model);
  if (shape.stride > 0) text += fmt::format("/stride:{}", shape.stride);
  if (shape.offset > 0) text += fmt::format("/offset:{}", shape.offset);
  if (shape.type != DataType::float32) text += fmt::format("/dtype:{}", to_string(shape.type));
  return text;
}

std::string suffix_of(StorePolicy stores) {
  switch (stores) {
    case StorePolicy::automatic: return "";
    case StorePolicy::cached: return "/stores:cached";
    case StorePolicy::non_temporal: return "/stores:non_temporal";
  }
  return "";
}

std::vector<TableShape> cache_to_memory_shapes() {
  return {shape_of(64, 64),      shape_of(512, 512),    shape_of(2048, 1024), shape_of(5000, 512),
          shape_of(131072, 128), shape_of(32768, 1024), shape_of(8192, 4096)};
}

std::vector<std::int64_t> swept_bytes() {
  constexpr std::int64_t smallest = 16 << 10, largest = 256 << 20, typical_l3 = 32 << 20;
  const std::int64_t l3 = cpu().l3_bytes > 0 ? cpu().l3_bytes : typical_l3;
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = smallest; bytes <= std::min(4 * l3, largest); bytes *= 4)
    sizes.push_back(bytes);
  return sizes;
}

void count_elements(benchmark::State& state, const TableShape& shape) {
  state.SetItemsProcessed(state.iterations() * shape.elements());
  const EncodingSpec& spec = shape.spec;
  std::string label =
      fmt::format("d_model={} base={} layout={} spacing={} first={} count={} dtype={}",
                  spec.d_model, spec.base, to_string(spec.layout), to_string(spec.spacing),
                  shape.rows.first, shape.rows.count, to_string(shape.type));
  if (!is_base(spec.frequencies)) label += " frequencies=" + to_string(spec.frequencies);
  state.SetLabel(label);
}

void count_elements_and_bytes(benchmark::State& state, const TableShape& shape) {
  count_elements(state, shape);
  state.SetBytesProcessed(state.iterations() * shape.bytes());
}

std::vector<const Backend*> leave_out_slow(const std::vector<const Backend*>& backends,
                                           const TableShape& shape, double most_seconds) {
  std::vector<const Backend*> quick;
  for (const Backend* backend : backends) {
    const double seconds = estimate_seconds(*backend, shape);
    if (seconds <= most_seconds) {
      quick.push_back(backend);
    } else {
      fmt::print(stderr, "left out: {} on {}: about {:.1f} s a table, over {} s\n",
                 backend->full_name(), to_string(shape), seconds, most_seconds);
    }
  }
  return quick;
}

}  // namespace posenc::bench
