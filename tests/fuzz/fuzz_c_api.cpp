// The C interface with random arguments, null pointers and unknown enumerators too. A call
// succeeds, or says why it is refused and writes nothing.
#include "arena.h"

#include "../c_objects.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace posenc::fuzz {

using namespace model;
namespace {

/// True if the call succeeded.
template <class Call>
bool succeeds(const Arena& arena, const Call& call) {
  const std::vector<float> before = arena.memory();
  const posenc_status status = call();
  if (status == POSENC_OK) return true;
  if (status != POSENC_INVALID_ARGUMENT) fail("a status that bad input does not have");
  if (*posenc_last_error() == '\0') fail("a refused call gives no reason");
  if (!arena.holds(before)) fail("a refused call has written");
  return false;
}

/// Usually one of the enumerators 0 .. last.
std::int32_t enumerator(FuzzedDataProvider& input, std::int32_t last) {
  return rarely(input) ? input.ConsumeIntegral<std::int32_t>()
                       : input.ConsumeIntegralInRange(0, last);
}

/// Usually the pointer, and sometimes null.
template <class T>
T* or_null(FuzzedDataProvider& input, T* pointer) {
  return rarely(input) ? nullptr : pointer;
}

/// Usually 0.
std::int32_t reserved(FuzzedDataProvider& input) { return rarely(input) ? 1 : 0; }

/// The text of a rule in memory that is valid until the next call; null: base.
const char* frequencies_of(FuzzedDataProvider& input) {
  static thread_local std::string text;
  constexpr const char* rules[] = {"base",
                                   "own:values=",
                                   "linear:factor=",
                                   "ntk:factor=",
                                   "longrope:attention_factor=1,factors=",
                                   "yarn:factor=4,trained_rows=",
                                   "yarn:truncate=false,beta_slow=",
                                   "llama3:high_frequency_factor=",
                                   "proportional:turned=",
                                   "turns:denominators=7/7,numerators=",
                                   "base_turns:numerator="};
  if (input.ConsumeBool()) {
    text = input.ConsumeRandomLengthString(60);
  } else {
    text = input.PickValueInArray(rules);
    for (int count = input.ConsumeIntegralInRange(0, 20); count > 0; --count) {
      const double value = input.ConsumeBool() ? input.ConsumeIntegralInRange(-10, 10000)
                                               : input.ConsumeFloatingPoint<double>();
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.17g", value);
      text.append(digits).append(count > 1 ? "/" : "");
    }
  }
  return or_null(input, text.c_str());
}

posenc_spec spec_of(FuzzedDataProvider& input) {
  posenc_spec spec = posenc_default_spec(Arena::size(input, 40) & ~std::int64_t{1});
  if (input.ConsumeBool()) spec.base = input.ConsumeFloatingPoint<double>();
  spec.layout = enumerator(input, 2);
  spec.spacing = enumerator(input, 1);
  if (input.ConsumeBool()) spec.frequencies = frequencies_of(input);
  return spec;
}

posenc_accuracy accuracy_of(FuzzedDataProvider& input) {
  return {input.ConsumeFloatingPoint<double>(), enumerator(input, 2), reserved(input)};
}

posenc_options options_of(FuzzedDataProvider& input) {
  return {input.ConsumeIntegralInRange(0, 3), enumerator(input, 2)};
}

/// A table in the arena. `safe` becomes false if a call could write elsewhere.
posenc_table table_of(FuzzedDataProvider& input, Arena& arena, std::int64_t columns, bool& safe) {
  MatrixView<float> view = arena.matrix(input, columns);
  const std::int32_t type = enumerator(input, 3);
  constexpr std::int64_t large = std::int64_t{1} << 60;
  if (view.columns > large || view.columns < -large || view.stride > large || view.stride < -large)
    safe = false;
  // Calls may use fewer rows than a table has, and then accept one that is impossible.
  const bool is_large = view.rows > Arena::floats || view.stride > Arena::floats;
  if (is_large && view.data != nullptr) safe = false;
  const std::int64_t factor = type == POSENC_FLOAT64 ? 2 : 1;
  if (factor == 2 && view.data != nullptr) view.data -= (view.data - arena.data()) % 2;
  if (safe) {
    safe = arena.harmless(
        MatrixView<float>{view.data, view.rows, view.columns * factor, view.stride * factor});
  }
  return {view.data, view.rows, view.columns, view.stride, type, reserved(input)};
}

posenc_sequences sequences_of(FuzzedDataProvider& input, Arena& arena, std::int64_t columns,
                              bool& safe) {
  const SequenceView<float> view = arena.sequences(input, columns);
  safe = safe && arena.harmless(view);
  const std::int32_t order = rarely(input) ? 2 : static_cast<std::int32_t>(view.order);
  return {view.data,         view.batch,      view.rows, view.columns,
          view.batch_stride, view.row_stride, order,     enumerator(input, 3)};
}

/// Positions in memory that is valid until the next call.
posenc_positions positions_of(FuzzedDataProvider& input) {
  static thread_local std::vector<std::int64_t> list;
  list.resize(input.ConsumeIntegralInRange<std::size_t>(0, 40));
  for (std::int64_t& each : list) each = Arena::size(input, 30);
  const std::int64_t axes = input.ConsumeIntegralInRange<std::int64_t>(0, 4);
  const auto count = static_cast<std::int64_t>(list.size());
  const std::int64_t rows = axes > 0 ? count / axes : count;
  const std::int32_t type = enumerator(input, 2);
  if (type == POSENC_RANGE)
    return {nullptr, Arena::size(input, 1000), Arena::size(input, 40), 0, 0, type, 0};
  return {or_null(input, list.data()), 0, rows, axes, rows, type, reserved(input)};
}

/// What make(&object) makes; null if it is refused.
template <class T, class Make>
Owned<T> made(const Arena& arena, const Make& make) {
  T* object = nullptr;
  if (succeeds(arena, [&] { return make(&object); }) != (object != nullptr))
    fail("an object without success, or the reverse");
  return Owned<T>(object);
}

void fuzz_encoder(FuzzedDataProvider& input, Arena& arena) {
  const posenc_spec spec = spec_of(input);
  if (spec.d_model > 128) return;
  const posenc_accuracy accuracy = accuracy_of(input);
  const char* const name = posenc_backend_name(input.ConsumeIntegralInRange(-1, 12));
  const auto owned = made<posenc_encoder>(arena, [&](posenc_encoder** result) {
    if (input.ConsumeBool()) return posenc_plan(name, or_null(input, &spec), result);
    return posenc_plan_selected(&spec, Arena::size(input, 100), Arena::size(input, 100),
                                enumerator(input, 3), or_null(input, &accuracy), result);
  });
  if (!owned) return;
  posenc_encoder* const encoder = owned.get();
  bool safe = true;
  const posenc_table out = table_of(input, arena, spec.d_model, safe);
  if (!safe) return;
  const posenc_options options = options_of(input);
  const std::int64_t first = Arena::size(input, std::int64_t{1} << 53),
                     rows = Arena::size(input, 40);
  succeeds(arena, [&] {
    return posenc_encode(encoder, first, rows, or_null(input, &out), or_null(input, &options));
  });
  const posenc_positions positions = positions_of(input);
  succeeds(arena, [&] { return posenc_encode_positions(encoder, &positions, &out, nullptr); });
  double bound;
  succeeds(arena,
           [&] { return posenc_error_bound(encoder, first, rows, enumerator(input, 3), &bound); });
  const auto cursor = made<posenc_cursor>(arena, [&](posenc_cursor** result) {
    return posenc_cursor_create(encoder, first, out.type, result);
  });
  if (!cursor) return;
  std::vector<double> row(static_cast<std::size_t>(spec.d_model));  // of the widest type
  const std::int64_t elements = input.ConsumeBool() ? spec.d_model : Arena::size(input, 2);
  if (elements > spec.d_model) return;
  succeeds(arena,
           [&] { return posenc_cursor_next(cursor.get(), or_null(input, row.data()), elements); });
}

void fuzz_grid(FuzzedDataProvider& input, Arena& arena) {
  const std::int64_t rows = Arena::size(input, 6), columns = Arena::size(input, 6),
                     d_model = Arena::size(input, 64);
  if (d_model > 128) return;
  bool safe = true;
  const posenc_table out = table_of(input, arena, d_model, safe);
  if (!safe) return;
  const posenc_options options = options_of(input);
  succeeds(arena, [&] {
    return posenc_encode_grid(enumerator(input, 2), rows, columns, d_model, or_null(input, &out),
                              or_null(input, &options));
  });
}

void fuzz_layers(FuzzedDataProvider& input, Arena& arena) {
  const posenc_spec spec = spec_of(input);
  if (spec.d_model > 128) return;
  const auto layer = made<posenc_positional_encoding>(arena, [&](auto** result) {
    return posenc_positional_encoding_create(&spec, input.ConsumeIntegralInRange(-1, 60),
                                             input.ConsumeFloatingPointInRange(-0.5, 1.5), nullptr,
                                             result);
  });
  if (!layer) return;
  bool safe = true;
  const posenc_sequences x = sequences_of(input, arena, spec.d_model, safe),
                         other = sequences_of(input, arena, spec.d_model, safe);
  const posenc_sequences& y = input.ConsumeBool() ? x : other;
  const posenc_forward_options options = {
      Arena::size(input, 60), 1, enumerator(input, 1), input.ConsumeIntegralInRange(0, 3),
      enumerator(input, 2),   0};
  if (!safe) return;
  succeeds(arena, [&] {
    return posenc_positional_encoding_forward(layer.get(), or_null(input, &x), or_null(input, &y),
                                              or_null(input, &options));
  });
  succeeds(arena, [&] { return posenc_positional_encoding_backward(layer.get(), &y, &options); });
}

posenc_heads heads_of(FuzzedDataProvider& input, Arena& arena, std::int64_t columns, bool& safe) {
  const HeadsView view = arena.heads(input, columns);
  safe = safe && arena.harmless(view);
  return {view.data,        view.batch,      view.heads,
          view.rows,        view.columns,    view.batch_stride,
          view.head_stride, view.row_stride, enumerator(input, 3),
          reserved(input)};
}

/// Fills caches and turns heads.
void use_rotary(FuzzedDataProvider& input, Arena& arena, const posenc_rotary* rotary,
                std::int64_t dimension) {
  bool safe = true;
  const posenc_table cache = table_of(input, arena, dimension, safe),
                     other = table_of(input, arena, dimension, safe);
  const posenc_heads x = heads_of(input, arena, dimension, safe);
  const posenc_options options = options_of(input);
  const posenc_rotate_options rotate = {input.ConsumeIntegralInRange(0, 3),
                                        input.ConsumeIntegralInRange(0, 1)};
  const posenc_positions positions = positions_of(input);
  if (!safe) return;
  const std::int64_t count = input.ConsumeIntegralInRange<std::int64_t>(-1, 1);
  const std::int32_t form = enumerator(input, 4);
  const posenc_table* const sines =
      input.ConsumeBool() == (form >= POSENC_CACHE_APART_ONCE) ? &other : nullptr;
  succeeds(arena, [&] {
    return posenc_rotary_cache(rotary, or_null(input, &positions), form, or_null(input, &cache),
                               sines, &options);
  });
  succeeds(arena, [&] {
    return posenc_rotary_apply(rotary, or_null(input, &x), count, &positions,
                               or_null(input, &rotate));
  });
}

void fuzz_rotary(FuzzedDataProvider& input, Arena& arena) {
  const std::int64_t dimension = Arena::size(input, 40) & ~std::int64_t{1};
  if (dimension > 128) return;
  const auto rotary = made<posenc_rotary>(arena, [&](posenc_rotary** result) {
    return posenc_rotary_create(dimension, input.ConsumeFloatingPoint<double>(),
                                enumerator(input, 1), frequencies_of(input), nullptr, result);
  });
  if (rotary) use_rotary(input, arena, rotary.get(), dimension);
}

void fuzz_axes(FuzzedDataProvider& input, Arena& arena) {
  std::vector<std::int64_t> sizes(input.ConsumeIntegralInRange<std::size_t>(0, 4));
  for (std::int64_t& each : sizes) each = Arena::size(input, 6);
  const auto count = static_cast<std::int64_t>(sizes.size());
  posenc_spec spec = spec_of(input);
  std::int64_t pairs = 0;
  for (const std::int64_t each : sizes) pairs += each > 0 && each <= 6 ? each : 0;
  if (input.ConsumeBool()) spec.d_model = 2 * pairs;
  const auto axes = made<posenc_axes>(arena, [&](posenc_axes** result) {
    return posenc_axes_create(enumerator(input, 3), or_null(input, sizes.data()), count,
                              or_null(input, &spec), result);
  });
  if (!axes || (spec.d_model > 128 && count == 0)) return;
  const auto encoder = made<posenc_axes_encoder>(arena, [&](posenc_axes_encoder** result) {
    return posenc_axes_encoder_create(axes.get(), enumerator(input, 3), nullptr, result);
  });
  if (encoder) {
    bool safe = true;
    const posenc_table out = table_of(input, arena, 2 * pairs, safe);
    const posenc_positions positions = positions_of(input);
    const posenc_options options = options_of(input);
    if (safe) {
      succeeds(arena, [&] {
        return posenc_axes_encode(encoder.get(), or_null(input, &positions), &out, &options);
      });
    }
  }
  const auto rotary = made<posenc_rotary>(arena, [&](posenc_rotary** result) {
    return posenc_rotary_create_with_axes(axes.get(), enumerator(input, 1),
                                          input.ConsumeBool() ? 1.0 : -1.0, nullptr, result);
  });
  if (rotary) use_rotary(input, arena, rotary.get(), 2 * pairs);
}

}  // namespace
}  // namespace posenc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace posenc::fuzz;
  return fuzz_one_of({fuzz_encoder, fuzz_layers, fuzz_rotary, fuzz_axes, fuzz_grid}, data, size);
}
