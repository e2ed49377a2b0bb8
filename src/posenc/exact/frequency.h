// The exact frequencies of a spec, in turns, and exactly reduced phases.
#pragma once

#include "posenc/exact/fixed_point.h"
#include "posenc/exact/wide.h"
#include "posenc/spec.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace posenc::detail {

/// A phase or a frequency as a fraction of a full turn, in units of 2^-256. Overflow of the
/// integers is the reduction modulo 2 pi.
using Turns = Fraction<4>;

class Frequencies;

/// One frequency of others.
struct PickedFrequency {
  std::shared_ptr<const Frequencies> from;  ///< each computed from a spec
  std::int64_t k;                           ///< below from->count()

  bool operator==(const PickedFrequency&) const = default;
};

/// w_k / (2 pi) modulo 1 for k = 0 .. d_model / 2 - 1, each within 2^-254 turns of the exact value
/// (wide.h derives it, and a test compares with MPFR). A phase at position 2^53 is then within
/// 2^-201 turns.
class Frequencies {
 public:
  /// The spec must be valid.
  explicit Frequencies(const EncodingSpec& spec);
  /// Frequencies of others, in any order.
  explicit Frequencies(std::vector<PickedFrequency> picked);

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(turns_.size()); }
  const Turns& operator[](std::int64_t k) const noexcept { return turns_[k]; }

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

  /// The number of quarter turns, modulo 4, if the phase is a whole number of them: sine and cosine
  /// are then 0, 1 or -1. Only a frequency that is given in turns can have such a phase, but for
  /// position 0. It is proven if that is a rational number; another power of a base may be within
  /// 2^-512 of such a phase by chance, with a probability below 2^-430 an encoding.
  std::optional<unsigned> whole_quarters(std::int64_t k, std::int64_t position) const noexcept {
    const Turns turns = phase(k, position);
    if (!is_in_turns_ || !is_near_quarter(turns)) return {};
    return quarters_at(k, position);
  }

 private:
  /// True if the phase is within 2^-190 of a whole number of quarter turns.
  static bool is_near_quarter(const Turns& phase) noexcept {
    const std::uint64_t in_quarter = phase.limb[0] << 2;
    const std::uint64_t most = ~std::uint64_t{0};
    return (in_quarter == 0 && phase.limb[1] == 0 && phase.limb[2] == 0) ||
           (in_quarter == most << 2 && phase.limb[1] == most && phase.limb[2] == most);
  }
  std::optional<unsigned> quarters_at(std::int64_t k, std::int64_t position) const noexcept;

  EncodingSpec spec_ = {};                    ///< not used if picked_ is not empty
  std::vector<PickedFrequency> picked_ = {};  ///< empty unless they are those of others
  std::vector<Turns> turns_;
  bool is_in_turns_;  ///< if some frequencies are
};

/// The k at which YaRN's ramp begins and ends: Transformers' find_correction_range(). The
/// logarithms are exact, and the other operations those of doubles: the same on every machine.
struct YarnRange {
  double low, high;
};
YarnRange yarn_range(const EncodingSpec& spec, const YarnScaling& yarn) noexcept;

/// A phase in radians, from -pi to pi. The relative error is below 4 * 2^-53.
double to_radians(const Turns& turns) noexcept;

}  // namespace posenc::detail
