// The positional encodings of the C interface.
#include "posenc/model/positional_encoding.h"
#include "c/call.h"
#include "c/spec_of.h"
#include "posenc/c_api.h"

#include <type_traits>

using namespace posenc;
using namespace posenc::detail;

// The enumerators of C++ and of C have the same numbers.
static_assert(static_cast<int>(BatchOrder::sequence_first) == POSENC_SEQUENCE_FIRST);

struct posenc_positional_encoding {
  PositionalEncoding layer;
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

}  // namespace

extern "C" {

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

}  // extern "C"
