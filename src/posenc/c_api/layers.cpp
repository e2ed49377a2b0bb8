// The layers of the C interface.
#include "posenc/c_api.h"
#include "posenc/c_api/call.h"
#include "posenc/c_api/spec_of.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/layers/rotary.h"

#include <type_traits>

using namespace posenc;
using namespace posenc::internal;

// The enumerators of C++ and of C have the same numbers.
static_assert(static_cast<int>(BatchOrder::sequence_first) == POSENC_SEQUENCE_FIRST);
static_assert(static_cast<int>(RotaryLayout::interleaved) == POSENC_ROTARY_INTERLEAVED);

struct posenc_positional_encoding {
  PositionalEncoding layer;
};
struct posenc_rotary {
  Rotary rotary;
};

namespace {

/// Calls use(view) for sequences, which are of any type but float64.
template <class Use>
void with_sequences(const char* name, const posenc_sequences* sequences, const Use& use) {
  const posenc_sequences& from = checked(sequences, name);
  const BatchOrder order = enumerator("order", from.order, BatchOrder::sequence_first);
  with_type(data_type(from.type), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, double>) {
      throw InvalidArgument(
          format_text("{}.type is float64; allowed: float32, float16, bfloat16", name));
    } else {
      use(SequenceView<T>{static_cast<T*>(from.data), order, from.batch, from.rows, from.columns,
                          from.batch_stride, from.row_stride});
    }
  });
}

ForwardOptions forward_options_of(const posenc_forward_options* options) {
  if (options == nullptr) return {};
  check_reserved(options->reserved);
  return {options->offset, options->training != 0, options->seed, options->threads,
          enumerator("stores", options->stores, StorePolicy::non_temporal)};
}

/// Calls use(T* data) for a cache, which is of any type but float64.
template <class Use>
void with_cache(const posenc_table& table, const Use& use) {
  with_elements(table, [&]<class T>(T* data) {
    if constexpr (std::is_same_v<T, double>) {
      throw InvalidArgument("type is float64; allowed for a cache: float32, float16, bfloat16");
    } else {
      use(data);
    }
  });
}

}  // namespace

extern "C" {

// ---- Positional encodings -----------------------------------------------------------------------

posenc_status posenc_positional_encoding_create(const posenc_spec* spec, int64_t max_rows,
                                                double dropout, const posenc_accuracy* accuracy,
                                                posenc_positional_encoding** layer) {
  return status_of([&] {
    posenc_positional_encoding*& result = checked(layer, "layer");
    result = new posenc_positional_encoding{PositionalEncoding(
        spec_of(spec), max_rows, dropout, EncodingSource::automatic, accuracy_of(accuracy))};
  });
}

posenc_status posenc_positional_encoding_forward(const posenc_positional_encoding* layer,
                                                 const posenc_sequences* x,
                                                 const posenc_sequences* y,
                                                 const posenc_forward_options* options) {
  return status_of([&] {
    with_sequences("x", x, [&]<class X>(const SequenceView<X>& from) {
      with_sequences("y", y, [&]<class Y>(const SequenceView<Y>& to) {
        if constexpr (std::is_same_v<X, Y>) {
          checked(layer, "layer")
              .layer.forward(SequenceView<const X>(from), to, forward_options_of(options));
        } else {
          throw InvalidArgument(
              format_text("y.type is {}; allowed: that of x, {}", y->type, x->type));
        }
      });
    });
  });
}

posenc_status posenc_positional_encoding_backward(const posenc_positional_encoding* layer,
                                                  const posenc_sequences* gradient,
                                                  const posenc_forward_options* options) {
  return status_of([&] {
    with_sequences("gradient", gradient, [&](const auto& view) {
      checked(layer, "layer").layer.backward(view, forward_options_of(options));
    });
  });
}

void posenc_positional_encoding_free(posenc_positional_encoding* layer) { delete layer; }

// ---- Rotary position embeddings -----------------------------------------------------------------

posenc_status posenc_rotary_create(int64_t dimension, double base, int32_t channels,
                                   const posenc_frequencies* frequencies,
                                   const posenc_accuracy* accuracy, posenc_rotary** rotary) {
  return status_of([&] {
    posenc_rotary*& result = checked(rotary, "rotary");
    result = new posenc_rotary{Rotary(dimension, base,
                                      enumerator("channels", channels, RotaryLayout::interleaved),
                                      accuracy_of(accuracy), rule_of(frequencies))};
  });
}

posenc_status posenc_rotary_cache(const posenc_rotary* rotary, int64_t first, int64_t rows,
                                  int32_t layout, const posenc_table* out,
                                  const posenc_options* options) {
  return status_of([&] {
    const posenc_table& table = checked(out, "out");
    const RotaryLayout order = enumerator("layout", layout, RotaryLayout::interleaved);
    with_cache(table, [&]<class T>(T* data) {
      checked(rotary, "rotary")
          .rotary.cache({first, rows}, order,
                        MatrixView<T>{data, table.rows, table.columns, table.stride},
                        options_of(options));
    });
  });
}

posenc_status posenc_rotary_apply(const posenc_rotary* rotary, const posenc_sequences* x,
                                  int64_t first, const posenc_options* options) {
  return status_of([&] {
    with_sequences("x", x, [&](const auto& view) {
      checked(rotary, "rotary").rotary.apply(view, first, options_of(options));
    });
  });
}

posenc_status posenc_rotary_apply_cache(const posenc_rotary* rotary, const posenc_table* cache,
                                        int32_t layout, const posenc_sequences* x,
                                        const posenc_options* options) {
  return status_of([&] {
    const posenc_table& table = checked(cache, "cache");
    const RotaryLayout order = enumerator("layout", layout, RotaryLayout::interleaved);
    with_cache(table, [&]<class T>(const T* data) {
      const MatrixView<const T> view = {data, table.rows, table.columns, table.stride};
      with_sequences("x", x, [&]<class X>(const SequenceView<X>& heads) {
        if constexpr (std::is_same_v<X, float> || std::is_same_v<X, T>) {
          checked(rotary, "rotary").rotary.apply(view, order, heads, options_of(options));
        } else {
          throw InvalidArgument(format_text(
              "x.type is {}; allowed: float32 (0), or that of the cache, {}", x->type, table.type));
        }
      });
    });
  });
}

void posenc_rotary_free(posenc_rotary* rotary) { delete rotary; }

}  // extern "C"
