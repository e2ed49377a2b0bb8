/// @file
/// Cached cosines and sines in the caller's memory, by which heads are turned.
#pragma once

#include "posenc/matrix.h"
#include "posenc/model/rotary_spec.h"

namespace posenc {

/// How often a row of cosines alone, or of sines alone, has the value of frequency k, and in which
/// columns. h = dimension / 2.
enum class Repeat {
  once,         ///< k: h columns. ONNX RotaryEmbedding, TensorRT.
  halves,       ///< k and h + k: 2h columns. Transformers.
  interleaved,  ///< 2k and 2k + 1: 2h columns. diffusers.
};

/// A cache that is read: one table of cosines and sines, or a table of each. Any type but float64.
struct RotaryCacheView {
  /// As Rotary::cache() writes it.
  RotaryCacheView(InputView cache, RotaryLayout layout) noexcept
      : cosines(cache), sines(cache), layout_of_both(layout) {}

  /// As Rotary::cosines_and_sines() writes them.
  RotaryCacheView(InputView cosine_table, InputView sine_table, Repeat how) noexcept
      : cosines(cosine_table), sines(sine_table), is_apart(true), repeat(how) {}

  InputView cosines;      ///< or both
  InputView sines;        ///< the same table unless is_apart
  bool is_apart = false;  ///< cosines and sines are tables of their own
  RotaryLayout layout_of_both = RotaryLayout::halves;  ///< if not is_apart
  Repeat repeat = Repeat::once;                        ///< if is_apart
};

}  // namespace posenc
