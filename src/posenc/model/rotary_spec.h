/// @file
/// What a rotary embedding is: which angles turn which channels of a head.
#pragma once

#include "posenc/model/axes.h"

#include <cstdint>

namespace posenc {

/// The columns of the cosine and the sine of frequency k in a row of a cache, or the two channels
/// of a head that it turns. h = dimension / 2.
enum class RotaryLayout {
  /// k and h + k. Caches of vLLM, cosines before sines; channels of GPT-NeoX and Llama.
  halves,
  /// 2k and 2k + 1. Caches of ggml, cosine before sine; channels of the paper and GPT-J.
  interleaved,
};

/// A rotary embedding.
struct RotarySpec {
  /// The angles: pair k of a row turns pair k of a head. Its layout has no effect, and rules have
  /// no attention factor.
  AxesSpec angles = {};
  RotaryLayout channels = RotaryLayout::halves;  ///< the pairs of a head
  /// What cosines and sines are multiplied by: 2^-20 to 2^20.
  double attention_factor = 1;

  /// Channels of a head that are turned.
  std::int64_t dimension() const noexcept { return angles.d_model(); }

  bool operator==(const RotarySpec&) const = default;
};

/// Throws InvalidArgument unless the angles and the attention factor are allowed.
void validate(const RotarySpec& spec);

/// One axis. A rule's attention factor becomes that of the result. Throws InvalidArgument if the
/// spec is not allowed, or if its rule has to be given an attention factor.
RotarySpec rotary_spec(const EncodingSpec& spec, RotaryLayout channels = RotaryLayout::halves);

}  // namespace posenc
