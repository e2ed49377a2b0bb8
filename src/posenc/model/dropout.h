/// @file
/// Inverted dropout, whose mask is a pure function of the seed and the element's index.
#pragma once

#include "posenc/cxx20.h"

#include <cstdint>
#include <span>

namespace posenc::model {

/// Drops each element with probability p and scales the others by 1 / (1 - p), as PyTorch's
/// nn.Dropout does in training. The mask is a function of (seed, element index) alone: it is the
/// same for every thread count, instruction set and split into calls. The backward pass applies the
/// same mask to the gradient.
///
/// The random bits come from Philox4x32-7 (philox.h), whose key is the seed, low word first. A
/// counter (n, s, 0) has the 64-bit number n in its first two words, low word first. Element i has
///
///     byte i % 4, lowest first, of word 2 (r / 64) + r % 8 / 4
///     of the counter (8 (i / 128) + r % 64 / 8, 0, 0), where r = i % 128.
///
/// With this mapping, vectors of counters give consecutive elements. An element is dropped if its
/// byte is below floor(256 p). If the byte equals floor(256 p), word 0 of the counter (i, 1, 0) is
/// compared with the next 32 bits of p in the same way. The probability is thus p within 2^-40.
class Dropout {
 public:
  /// Throws InvalidArgument unless 0 <= probability < 1.
  explicit Dropout(double probability = 0.0);

  /// The probability p.
  double probability() const noexcept { return probability_; }

  /// The factor of the kept elements: 1 / (1 - p), rounded to float32.
  float scale() const noexcept { return scale_; }

  /// True if the mask of `seed` keeps the element. This function defines the mask, one element at a
  /// time.
  bool keeps(std::uint64_t seed, std::uint64_t element) const noexcept;

  /// Sets x[i] to x[i] * scale() if element first_element + i is kept, and to 0 otherwise, even if
  /// x[i] is not finite. Applies to activations and to gradients.
  void apply(std::span<float> x, std::uint64_t seed,
             std::uint64_t first_element = 0) const noexcept;

 private:
  double probability_;
  float scale_;
  std::uint8_t threshold_;        ///< drops an element if its byte is below, keeps it if above
  std::uint32_t fine_threshold_;  ///< if the byte is equal, drops the element if its word is below
};

}  // namespace posenc::model
