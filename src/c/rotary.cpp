// Rotary position embeddings, in the C interface.
#include "posenc/model/rotary.h"

#include "c/axes_of.h"
#include "c/call.h"
#include "c/spec_of.h"
#include "posenc/c_api.h"

#include <cstdint>
#include <vector>

using namespace posenc;
using namespace posenc::detail;

// The enumerators of C++ and of C have the same numbers.
static_assert(static_cast<int>(RotaryLayout::interleaved) == POSENC_ROTARY_INTERLEAVED);
static_assert(static_cast<int>(Repeat::halves) == POSENC_REPEAT_HALVES);
static_assert(static_cast<int>(Repeat::interleaved) == POSENC_REPEAT_INTERLEAVED);
static_assert(sizeof(posenc_heads) == 72 && sizeof(posenc_rotate_options) == 8);

struct posenc_rotary {
  Rotary rotary;
};

namespace {

RotaryLayout layout_of(const char* name, std::int32_t number) {
  return enumerator(name, number, RotaryLayout::interleaved);
}

Repeat repeat_of(std::int32_t number) { return enumerator("repeat", number, Repeat::interleaved); }

HeadsView heads_of(const posenc_heads& from) {
  check_reserved(from.reserved);
  return with_type(data_type(from.type), [&]<class T>(T) {
    return HeadsView(static_cast<T*>(from.data), from.batch, from.heads, from.rows, from.columns,
                     from.batch_stride, from.head_stride, from.row_stride);
  });
}

/// Calls use(views) for tensors. Two, queries and keys, take no memory from the heap.
template <class Use>
void with_heads(const posenc_heads* x, std::int64_t count, const Use& use) {
  constexpr std::int64_t most = 1024;
  if (count < 0 || count > most)
    throw InvalidArgument(format_text("count is {}; allowed: 0 to {}", count, most));
  if (count > 0) checked(x, "x");
  if (count == 2) {
    const HeadsView two[] = {heads_of(x[0]), heads_of(x[1])};
    return use(std::span<const HeadsView>(two));
  }
  if (count == 1) {
    const HeadsView one = heads_of(x[0]);
    return use(std::span(&one, 1));
  }
  std::vector<HeadsView> views;
  for (std::int64_t i = 0; i < count; ++i) views.push_back(heads_of(x[i]));
  use(std::span<const HeadsView>(views));
}

RotateOptions rotate_options_of(const posenc_rotate_options* options) {
  if (options == nullptr) return {};
  return {.inverse = options->inverse != 0, .threads = options->threads};
}

void apply_cached(const posenc_rotary* rotary, const RotaryCacheView& cache, const posenc_heads* x,
                  std::int64_t count, const posenc_positions* rows_of_cache,
                  const posenc_rotate_options* options) {
  with_heads(x, count, [&](std::span<const HeadsView> views) {
    checked(rotary, "rotary")
        .rotary.apply_cache(cache, views, row_positions_of(rows_of_cache),
                            rotate_options_of(options));
  });
}

}  // namespace

extern "C" {

posenc_status posenc_rotary_create(int64_t dimension, double base, int32_t channels,
                                   const posenc_frequencies* frequencies,
                                   const posenc_accuracy* accuracy, posenc_rotary** rotary) {
  return status_of([&] {
    posenc_rotary*& result = checked(rotary, "rotary");
    result = new posenc_rotary{Rotary(dimension, base, layout_of("channels", channels),
                                      accuracy_of(accuracy), rule_of(frequencies))};
  });
}

posenc_status posenc_rotary_create_with_axes(const posenc_axes* axes, int32_t channels,
                                             double attention_factor,
                                             const posenc_accuracy* accuracy,
                                             posenc_rotary** rotary) {
  return status_of([&] {
    posenc_rotary*& result = checked(rotary, "rotary");
    const RotarySpec spec = {.angles = checked(axes, "axes").spec,
                             .channels = layout_of("channels", channels),
                             .attention_factor = attention_factor};
    result = new posenc_rotary{Rotary(spec, accuracy_of(accuracy))};
  });
}

posenc_status posenc_rotary_cache(const posenc_rotary* rotary, const posenc_positions* positions,
                                  int32_t layout, const posenc_table* out,
                                  const posenc_options* options) {
  return status_of([&] {
    checked(rotary, "rotary")
        .rotary.cache(row_positions_of(positions), layout_of("layout", layout),
                      output_of("out", out), options_of(options));
  });
}

posenc_status posenc_rotary_cosines_and_sines(const posenc_rotary* rotary,
                                              const posenc_positions* positions, int32_t repeat,
                                              const posenc_table* cosines,
                                              const posenc_table* sines,
                                              const posenc_options* options) {
  return status_of([&] {
    checked(rotary, "rotary")
        .rotary.cosines_and_sines(row_positions_of(positions), repeat_of(repeat),
                                  output_of("cosines", cosines), output_of("sines", sines),
                                  options_of(options));
  });
}

posenc_status posenc_rotary_apply(const posenc_rotary* rotary, const posenc_heads* x, int64_t count,
                                  const posenc_positions* positions,
                                  const posenc_rotate_options* options) {
  return status_of([&] {
    with_heads(x, count, [&](std::span<const HeadsView> views) {
      checked(rotary, "rotary")
          .rotary.apply(views, row_positions_of(positions), rotate_options_of(options));
    });
  });
}

posenc_status posenc_rotary_apply_cache(const posenc_rotary* rotary, const posenc_table* cache,
                                        int32_t layout, const posenc_heads* x, int64_t count,
                                        const posenc_positions* rows_of_cache,
                                        const posenc_rotate_options* options) {
  return status_of([&] {
    const RotaryCacheView view(input_of("cache", cache), layout_of("layout", layout));
    apply_cached(rotary, view, x, count, rows_of_cache, options);
  });
}

posenc_status posenc_rotary_apply_cosines_and_sines(const posenc_rotary* rotary,
                                                    const posenc_table* cosines,
                                                    const posenc_table* sines, int32_t repeat,
                                                    const posenc_heads* x, int64_t count,
                                                    const posenc_positions* rows_of_cache,
                                                    const posenc_rotate_options* options) {
  return status_of([&] {
    const RotaryCacheView view(input_of("cosines", cosines), input_of("sines", sines),
                               repeat_of(repeat));
    apply_cached(rotary, view, x, count, rows_of_cache, options);
  });
}

void posenc_rotary_free(posenc_rotary* rotary) { delete rotary; }

}  // extern "C"
