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

/// A phase or a frequency as a fraction of a full turn, in units of 2^-256. The overflow of the
/// integers performs the reduction modulo 2 pi.
using Turns = Fraction<4>;

class Frequencies;

/// One frequency of others.
struct PickedFrequency {
  std::shared_ptr<const Frequencies> from;  ///< each computed from a spec
  std::int64_t k;                           ///< below from->count()

  bool operator==(const PickedFrequency&) const = default;
};

/// The frequencies w_k / (2 pi) modulo 1 for k = 0 .. d_model / 2 - 1, each within 2^-254 turns of
/// the exact value. wide.h and frequency.cpp derive this bound, and a test compares the values with
/// MPFR. A phase at position 2^53 is then within 2^-201 turns.
class Frequencies {
 public:
  /// The spec must be valid.
  explicit Frequencies(const EncodingSpec& spec);
  /// Frequencies of others, in any order.
  explicit Frequencies(std::vector<PickedFrequency> picked);

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(turns_.size()); }
  const Turns& operator[](std::int64_t k) const noexcept { return turns_[k]; }

  /// The phase at `position`, modulo one turn. The product is exact, so the error of the phase
  /// comes from the frequency alone.
  Turns phase(std::int64_t k, std::int64_t position) const noexcept {
    return (*this)[k] * static_cast<std::uint64_t>(position);
  }

  /// log2 of an upper bound of the error of phase() in radians:
  /// 2 pi 2^-254 position < 2^(-251 + b), where b is the number of bits of the position.
  static int log2_phase_error(std::int64_t position) noexcept {
    return -251 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(position)));
  }

  /// Frequency k within 2^-640 turns, computed again from the spec. Takes about 0.1 milliseconds
  /// and allocates nothing.
  Widest widest(std::int64_t k) const noexcept;

  /// If the phase is a whole number of quarter turns, returns that number modulo 4. The sine and
  /// the cosine are then 0, 1 or -1. Except at position 0, only frequencies that are given in turns
  /// can have such a phase. If the frequency is a rational number, the result is proven. Any other
  /// power of a base may by chance lie within 2^-512 of such a phase, with a probability below
  /// 2^-430 per encoding.
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
  bool is_in_turns_;  ///< true if some frequencies are given in turns
};

/// The indices k at which YaRN's ramp begins and ends, as in Transformers' find_correction_range().
/// The logarithms are computed in integers and everything else in double, so the result is the same
/// on every machine.
struct YarnRange {
  double low, high;
};
YarnRange yarn_range(const EncodingSpec& spec, const YarnScaling& yarn) noexcept;

/// A phase in radians, from -pi to pi. The relative error is below 4 * 2^-53.
double to_radians(const Turns& turns) noexcept;

}  // namespace posenc::detail
