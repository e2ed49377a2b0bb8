// The exact frequencies of a spec, in turns, and exactly reduced phases.
#pragma once

#include "posenc/exact/fixed_point.h"
#include "posenc/exact/wide.h"
#include "posenc/spec.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace posenc {

/// A phase or a frequency as a fraction of a full turn, in units of 2^-256. Overflow of the
/// integers is the reduction modulo 2 pi.
using Turns = Fraction<4>;

/// w_k / (2 pi) modulo 1 for k = 0 .. d_model / 2 - 1, each within 2^-254 turns of the exact value
/// (wide.h derives it, and a test compares with MPFR). A phase at position 2^53 is then within
/// 2^-201 turns.
class Frequencies {
 public:
  /// The spec must be valid.
  explicit Frequencies(const EncodingSpec& spec);

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(turns_.size()); }
  const Turns& operator[](std::int64_t k) const noexcept {
    return turns_[static_cast<std::size_t>(k)];
  }

  /// The phase of that position modulo one turn. The product is exact, so that its only error is
  /// that of the frequency.
  Turns phase(std::int64_t k, std::int64_t position) const noexcept {
    return (*this)[k] * static_cast<std::uint64_t>(position);
  }

  /// log2 of an upper bound of the error of phase() in radians: 2 pi 2^-254 position < 2^(-251 +
  /// b), b the number of bits of the position.
  static int log2_phase_error(std::int64_t position) noexcept {
    return -251 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(position)));
  }

  /// Frequency k within 2^-640 turns, computed anew from the spec. Takes about 0.1 milliseconds,
  /// and allocates nothing.
  Widest widest(std::int64_t k) const noexcept;

 private:
  EncodingSpec spec_;
  std::vector<Turns> turns_;
};

/// The k at which YaRN's ramp begins and ends: Transformers' find_correction_range(). The
/// logarithms are exact, and the other operations those of doubles, so that every machine has the
/// same range.
struct YarnRange {
  double low, high;
};
YarnRange yarn_range(const EncodingSpec& spec, const YarnScaling& yarn) noexcept;

/// A phase in radians, from -pi to pi. The relative error is below 4 * 2^-53.
double to_radians(const Turns& turns) noexcept;

}  // namespace posenc
