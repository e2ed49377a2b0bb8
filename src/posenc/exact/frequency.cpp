#include "posenc/exact/frequency.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <variant>

namespace posenc {
namespace {

/// Wider than Turns by one limb. At most 2^19 products are truncated, each by a few units, which
/// does not reach the limbs of Turns.
using Wide = Fraction<5>;

/// 1 / (2 pi).
constexpr Wide turns_of_one_radian = {{0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410,
                                       0x7f9458eaf7aef158, 0x6dc91b8e909374b8}};

/// Logarithms reach 709.8. Divided by 1024, they are fractions.
constexpr int log_unit_bits = 10;

constexpr bool is_zero(const Wide& x) noexcept { return x == Wide{}; }

/// atanh(numerator / denominator) / 2^log_unit_bits by its power series. The quotient must be at
/// most 1/3.
constexpr Wide atanh_series(std::uint64_t numerator, std::uint64_t denominator) noexcept {
  Wide quotient;
  uint128 remainder = numerator;
  for (auto& limb : quotient.limb) {
    const uint128 part = remainder << 64;
    limb = static_cast<std::uint64_t>(part / denominator);
    remainder = part % denominator;
  }
  const Wide square = quotient * quotient;
  Wide power = quotient / (std::uint64_t{1} << log_unit_bits);
  Wide sum;
  for (std::uint64_t odd = 1; !is_zero(power); odd += 2) {
    sum += power / odd;
    power = power * square;
  }
  return sum;
}

/// ln(base) / 2^log_unit_bits, from ln(m 2^e) = 2 atanh((m - 1) / (m + 1)) + e 2 atanh(1 / 3). The
/// base must be above 1.
constexpr Wide natural_logarithm(double base) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(base);
  const std::uint64_t exponent = (bits >> 52) - 1023;
  const std::uint64_t one = std::uint64_t{1} << 52;
  const std::uint64_t mantissa = (bits & (one - 1)) | one;
  const Wide of_mantissa = atanh_series(mantissa - one, mantissa + one);
  const Wide of_two = atanh_series(1, 3);
  return (of_mantissa + of_two * exponent) * 2;
}

// The usual base, whose logarithm is computed at compile time.
constexpr double usual_base = 10000.0;
constexpr Wide logarithm_of_usual_base = natural_logarithm(usual_base);

/// exp(-x) for the argument x / 2^log_unit_bits > 0. x is halved until it is small, and the result
/// is squared as often. Each squaring doubles the relative error, which is a few 2^-320 at first.
Wide exp_minus(const Wide& scaled) noexcept {
  constexpr int small_bits = 16;  // y < 2^-16, so that 18 terms reach 2^-320
  constexpr std::uint64_t terms = 18;
  const int integer_bits = std::max(0, log_unit_bits - std::countl_zero(scaled.limb[0]));
  const int halvings = small_bits + integer_bits;
  // y = scaled 2^log_unit_bits / 2^halvings
  const Wide y = scaled / (std::uint64_t{1} << (halvings - log_unit_bits));
  // g = 1 - exp(-y) = y (1 - y / 2 (1 - y / 3 (...))). Near 0, exp(-y) itself may round to 1, which
  // is not a fraction.
  Wide g;
  for (std::uint64_t n = terms; n > 0; --n) {
    const Wide term = y / n;
    g = term - term * g;
  }
  Wide power = Wide{} - g;
  for (int i = 0; i < halvings; ++i) power = power * power;
  return power;
}

/// x 2^exponent modulo 1; truncated if the exponent is negative.
Wide shifted(Wide x, int exponent) noexcept {
  constexpr int most = 63;
  while (exponent != 0) {
    const int step = std::clamp(exponent, -most, most);
    const std::uint64_t power = std::uint64_t{1} << std::abs(step);
    x = step > 0 ? x * power : x / power;
    exponent -= step;
  }
  return x;
}

/// The magnitude of a double other than 0: mantissa 2^exponent, where the mantissa is odd.
struct OddMantissa {
  std::uint64_t mantissa;
  int exponent;

  explicit OddMantissa(double value) noexcept {
    constexpr int precision = std::numeric_limits<double>::digits;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, precision));
    const int zeros = std::countr_zero(mantissa);
    mantissa >>= zeros;
    exponent += zeros - precision;
  }
};

/// A double in [0, 1).
Wide to_fraction(double value) noexcept {
  if (value == 0) return {};
  const OddMantissa parts(value);
  return shifted(Wide{{0, 0, 0, 0, parts.mantissa}}, 64 * 5 + parts.exponent);
}

/// x / divisor modulo 1, within 2^-256 if the divisor is at least 2^-10.
Wide divide(const Wide& x, double divisor) noexcept {
  const OddMantissa parts(divisor);
  return shifted(x / parts.mantissa, -parts.exponent);
}

/// A frequency in radians, in turns modulo 1.
Wide to_turns(double frequency) noexcept {
  if (frequency == 0) return {};
  const OddMantissa parts(frequency);
  // Digits must not be lost at the upper end before the product.
  const Wide unit = shifted(turns_of_one_radian, std::min(parts.exponent, 0));
  const Wide turns = shifted(unit * parts.mantissa, std::max(parts.exponent, 0));
  return frequency < 0 ? Wide{} - turns : turns;
}

bool less(const Wide& a, const Wide& b) noexcept { return a.limb < b.limb; }

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
    const auto [low, high] = range_of(yarn);
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

  struct Range {
    double low, high;
  };

  /// As Transformers computes it, in double.
  Range range_of(const YarnScaling& yarn) const noexcept {
    constexpr double two_pi = 6.283185307179586;
    const auto d_model = static_cast<double>(spec_.d_model);
    const auto index = [&](double rotations) {
      return d_model * std::log(static_cast<double>(yarn.trained_rows) / (rotations * two_pi)) /
             (2 * std::log(spec_.base));
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

  const EncodingSpec& spec_;
  std::vector<Turns>& turns_;
};

}  // namespace

Frequencies::Frequencies(const EncodingSpec& spec)
    : turns_(static_cast<std::size_t>(spec.d_model / 2)) {
  std::visit(Rules(spec, turns_), spec.frequencies);
}

double to_radians(const Turns& turns) noexcept {
  constexpr double two_pi = 6.283185307179586;
  const bool is_negative = turns.limb[0] >> 63 != 0;
  const Turns magnitude = is_negative ? Turns{} - turns : turns;
  double fraction = 0;
  for (std::size_t i = magnitude.limb.size(); i-- > 0;) {
    fraction = (fraction + static_cast<double>(magnitude.limb[i])) * 0x1p-64;
  }
  return (is_negative ? -two_pi : two_pi) * fraction;
}

}  // namespace posenc
