#include "posenc/exact/frequency.h"

#include "posenc/exact/wide.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

namespace posenc {
namespace {

// The usual base, whose logarithm is computed at compile time.
constexpr double usual_base = 10000.0;
constexpr Wide logarithm_of_usual_base = natural_logarithm(usual_base);

/// Where a rule blends a frequency w and w / s.
class Blend {
 public:
  explicit Blend(double factor) : factor_(factor) {}

  Wide slow(const Wide& turns) const noexcept { return divide(turns, factor_); }
  /// w r + w / s (1 - r), r = numerator / denominator in (0, 1). Both are given as multiples of
  /// the same unit, which exceeds the denominator.
  Wide mixed(const Wide& turns, const Wide& numerator, double denominator) const noexcept {
    return slow(turns) + divide(numerator, denominator) * (turns - slow(turns));
  }

 private:
  double factor_;
};

/// The unit of Blend::mixed, as an exponent of 2.
int unit_above(double value) noexcept { return std::ilogb(value) + 1; }

/// Fills turns with one frequency after the other.
class Rules {
 public:
  Rules(const EncodingSpec& spec, std::vector<Turns>& turns) : spec_(spec), turns_(turns) {}

  void operator()(const BaseFrequencies&) const {
    fill([](const Wide& turns, std::int64_t) { return turns; });
  }

  void operator()(const OwnFrequencies& own) const {
    for (std::size_t k = 0; k < turns_.size(); ++k) turns_[k] = leading(to_turns(own.values[k]));
  }

  void operator()(const LinearScaling& linear) const {
    fill([&](const Wide& turns, std::int64_t) { return divide(turns, linear.factor); });
  }

  /// The logarithm of the base grows by d / (d - 2) ln s, and that of the ratio of two frequencies
  /// by 2 / (d - 2) ln s. The only frequency of d = 2 does not depend on the base.
  void operator()(const NtkScaling& ntk) const {
    Wide logarithm = logarithm_of_ratio();
    if (ntk.factor > 1 && spec_.d_model > 2) {
      logarithm +=
          natural_logarithm(ntk.factor) / static_cast<std::uint64_t>(spec_.d_model / 2 - 1);
    }
    fill([](const Wide& turns, std::int64_t) { return turns; }, logarithm);
  }

  void operator()(const YarnScaling& yarn) const {
    const auto [low, high] = yarn_range(spec_, yarn);
    const Blend blend(yarn.factor);
    fill([&, low = low, high = high](const Wide& turns, std::int64_t k) {
      // The share of w, which is 1 - r.
      const double numerator = high - static_cast<double>(k), denominator = high - low;
      const double share = numerator / denominator;
      if (share >= 1) return turns;
      if (share <= 0) return blend.slow(turns);
      const int unit = unit_above(denominator);
      return blend.mixed(turns, to_fraction(std::ldexp(numerator, -unit)),
                         std::ldexp(denominator, -unit));
    });
  }

  void operator()(const Llama3Scaling& llama3) const {
    const double low = llama3.low_frequency_factor, high = llama3.high_frequency_factor;
    const int unit = unit_above(high) + 1;
    const Wide lowest = to_fraction(std::ldexp(low, -unit)),
               highest = to_fraction(std::ldexp(high, -unit));
    const Blend blend(llama3.factor);
    fill([&](const Wide& turns, std::int64_t) {
      // Far above `high`, the multiple of a unit would exceed 1.
      const double rows = static_cast<double>(llama3.trained_rows);
      if (rows * std::ldexp(static_cast<double>(turns.limb[0]), -64) > 1.5 * high) return turns;
      const Wide in_rows = shifted(turns, -unit) * static_cast<std::uint64_t>(llama3.trained_rows);
      if (!less(lowest, in_rows)) return blend.slow(turns);
      if (!less(in_rows, highest)) return turns;
      return blend.mixed(turns, in_rows - lowest, std::ldexp(high - low, -unit));
    });
  }

  void operator()(const LongRopeScaling& longrope) const {
    fill([&](const Wide& turns, std::int64_t k) {
      return divide(turns, longrope.factors[static_cast<std::size_t>(k)]);
    });
  }

 private:
  static Turns leading(const Wide& wide) noexcept {
    Turns turns;
    for (std::size_t i = 0; i < turns.limb.size(); ++i) turns.limb[i] = wide.limb[i];
    return turns;
  }

  /// -ln(w_(k+1) / w_k) / 2^log_unit_bits
  Wide logarithm_of_ratio() const noexcept {
    const Wide logarithm =
        spec_.base == usual_base ? logarithm_of_usual_base : natural_logarithm(spec_.base);
    return logarithm / static_cast<std::uint64_t>(exponent_denominator(spec_));
  }

  template <class Scaled>
  void fill(const Scaled& scaled) const {
    fill(scaled, logarithm_of_ratio());
  }

  template <class Scaled>
  void fill(const Scaled& scaled, const Wide& logarithm) const {
    const Wide ratio = exp_minus(logarithm);
    Wide turns = turns_of_one_radian;
    for (std::size_t k = 0; k < turns_.size(); ++k) {
      turns_[k] = leading(scaled(turns, static_cast<std::int64_t>(k)));
      turns = turns * ratio;
    }
  }

  const EncodingSpec& spec_;
  std::vector<Turns>& turns_;
};

}  // namespace

Frequencies::Frequencies(const EncodingSpec& spec)
    : turns_(static_cast<std::size_t>(spec.d_model / 2)) {
  std::visit(Rules(spec, turns_), spec.frequencies);
}

YarnRange yarn_range(const EncodingSpec& spec, const YarnScaling& yarn) noexcept {
  const auto d_model = static_cast<double>(spec.d_model);
  // Halved, because it may exceed 1/2.
  const double of_base = 2 * to_signed_double(natural_logarithm(spec.base) / 2);
  const auto index = [&](double rotations) {
    const Wide logarithm = natural_logarithm(static_cast<double>(yarn.trained_rows)) -
                           natural_logarithm(rotations) - logarithm_of_two_pi;
    return d_model / 2 * (to_signed_double(logarithm) / of_base);
  };
  double low = index(yarn.beta_fast), high = index(yarn.beta_slow);
  if (yarn.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, d_model - 1);
  return {low, low == high ? high + 0.001 : high};
}

double to_radians(const Turns& turns) noexcept {
  constexpr double two_pi = 6.283185307179586;
  return two_pi * to_signed_double(turns);
}

}  // namespace posenc
