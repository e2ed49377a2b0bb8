// Inverted dropout whose mask is a pure function of a seed and an element's index.
#pragma once

#include "posenc/encode_options.h"
#include "posenc/export.h"

#include <cstdint>
#include <span>

namespace POSENC_API posenc {

/// Drops each element with probability p and scales those that it keeps by 1 / (1 - p), as
/// PyTorch's nn.Dropout does in training. The mask depends on (seed, element index) alone: it is
/// the same for every thread count, instruction set and split into calls, and applying it to a
/// gradient is the backward pass.
///
/// The random bits come from Philox4x32-10 (philox.h) with the seed as key, low word first. Element
/// i has byte i % 4 (lowest first) of word 2 (r / 64) + r % 8 / 4, r = i % 128, of the counter (8
/// (i / 128) + r % 64 / 8, 0, 0) whose first two words hold a 64-bit number, low word first: with
/// that mapping vectors of counters give consecutive elements. An element is dropped if its byte
/// is below floor(256 p). Where it is equal, word 0 of the counter (i, 1, 0) decides in the same
/// way by the next 32 bits of p: p is honoured to 2^-40.
class Dropout {
 public:
  /// 0 <= probability < 1. Throws InvalidArgument elsewhere.
  explicit Dropout(double probability = 0.0);

  double probability() const noexcept { return probability_; }

  /// 1 / (1 - p), rounded to float32: the factor of what is kept.
  float scale() const noexcept { return scale_; }

  /// Whether the mask of that seed keeps an element: the definition, one element at a time.
  bool keeps(std::uint64_t seed, std::uint64_t element) const noexcept;

  /// out[i] = in[i] * scale() if element first_element + i is kept, else 0 (whatever in[i] is).
  /// For activations and for gradients. Throws InvalidArgument if the sizes differ, threads < 1,
  /// or `out` overlaps `in` without being the same memory.
  void apply(std::span<const float> in, std::span<float> out, std::uint64_t seed,
             std::uint64_t first_element = 0, EncodeOptions options = {}) const;

 private:
  double probability_;
  float scale_;
};

}  // namespace posenc
