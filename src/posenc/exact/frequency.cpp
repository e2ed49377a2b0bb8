#include "posenc/exact/frequency.h"

#include "posenc/exact/wide.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace posenc::detail {
namespace {

// The logarithm of the usual base is computed at compile time.
constexpr double usual_base = 10000.0;
constexpr Wide logarithm_of_usual_base = natural_logarithm<5>(usual_base);

/// The exponent e of the unit 2^e. A value above 0, expressed in this unit, is a fraction.
int unit_above(double value) noexcept { return std::ilogb(value) + 1; }

/// w r + w / s (1 - r)
template <class Number>
Number blended(const Number& turns, double factor, const Number& r) noexcept {
  const Number slow = divide(turns, factor);
  return slow + r * (turns - slow);
}

/// Computes consecutive frequencies in fractions of `Limbs` limbs, and keeps the leading `Kept`
/// limbs.
///
/// Error bound of the base's frequencies: 2^43 units. The logarithm of a ratio, times k, is within
/// 2^32 units: 2^21 from the base's logarithm, and 2^10 for log_unit_bits. The truncation of the
/// quotient adds k 2^10 < 2^30. If the logarithm is below 1, exp_minus() is within 2^23 units, and
/// k 2^23 is below 2^42. Otherwise k is below 2^10, and k 2^33 is below 2^43.
///
/// A division by 2^-10 to 1 adds 10 bits to these errors. Its own truncation, below 2^63 units, is
/// the largest error. Two rules can have larger errors. Llama 3.1's ramp amplifies the error of the
/// base's frequency by high / (high - low) < 2^54, to 2^97 units. For frequencies in turns, see
/// BaseTurns.
template <std::size_t Limbs, std::size_t Kept>
class Rules {
  using Number = Fraction<Limbs>;

 public:
  /// Fills `turns` with the frequencies from `first` on.
  Rules(const EncodingSpec& spec, std::int64_t first, std::span<Fraction<Kept>> turns)
      : spec_(spec), first_(first), turns_(turns) {}

  void operator()(const BaseFrequencies&) const {
    fill([](const Number& turns, std::int64_t) { return turns; });
  }

  void operator()(const OwnFrequencies& own) const {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      turns_[i] = leading<Kept>(to_turns<Limbs>(own.values[first_ + i]));
    }
  }

  void operator()(const LinearScaling& linear) const {
    fill([&](const Number& turns, std::int64_t) { return divide(turns, linear.factor); });
  }

  /// The logarithm of the base grows by d / (d - 2) ln s, and the logarithm of the ratio of two
  /// frequencies by 2 / (d - 2) ln s. If d = 2, the only frequency does not depend on the base.
  void operator()(const NtkScaling& ntk) const {
    Number logarithm = logarithm_of_ratio();
    if (ntk.factor > 1 && spec_.d_model > 2) {
      logarithm +=
          natural_logarithm<Limbs>(ntk.factor) / static_cast<std::uint64_t>(spec_.d_model / 2 - 1);
    }
    fill([](const Number& turns, std::int64_t) { return turns; }, logarithm);
  }

  void operator()(const YarnScaling& yarn) const {
    const auto [low, high] = yarn_range(spec_, yarn);
    fill([&, low = low, high = high](const Number& turns, std::int64_t k) {
      // The share of w is 1 - r.
      const double numerator = high - static_cast<double>(k), denominator = high - low;
      const double share = numerator / denominator;
      if (share >= 1) return turns;
      if (share <= 0) return divide(turns, yarn.factor);
      const int unit = unit_above(denominator);
      return blended(
          turns, yarn.factor,
          divide(to_fraction<Limbs>(std::ldexp(numerator, -unit)), std::ldexp(denominator, -unit)));
    });
  }

  void operator()(const Llama3Scaling& llama3) const {
    const double low = llama3.low_frequency_factor, high = llama3.high_frequency_factor;
    const int unit = unit_above(high) + 1;
    const Number lowest = to_fraction<Limbs>(std::ldexp(low, -unit)),
                 highest = to_fraction<Limbs>(std::ldexp(high, -unit));
    fill([&](const Number& turns, std::int64_t) {
      // Far above `high`, the multiple of a unit would exceed 1.
      const double rows = static_cast<double>(llama3.trained_rows);
      if (rows * std::ldexp(static_cast<double>(turns.limb[0]), -64) > 1.5 * high) return turns;
      const Number in_rows =
          shifted(turns, -unit) * static_cast<std::uint64_t>(llama3.trained_rows);
      if (!less(lowest, in_rows)) return divide(turns, llama3.factor);
      if (!less(in_rows, highest)) return turns;
      // high - low in double may round, so this difference is taken in fractions.
      return blended(turns, llama3.factor, quotient_of(in_rows - lowest, highest - lowest));
    });
  }

  void operator()(const LongRopeScaling& longrope) const {
    fill([&](const Number& turns, std::int64_t k) { return divide(turns, longrope.factors[k]); });
  }

  void operator()(const ProportionalScaling& proportional) const {
    fill([&](const Number& turns, std::int64_t k) {
      return k < proportional.turned ? divide(turns, proportional.factor) : Number{};
    });
  }

  void operator()(const TurnFrequencies& given) const {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const std::size_t k = first_ + i;
      turns_[i] = leading<Kept>(rational<Limbs>(given.numerators[k], given.denominators[k]));
    }
  }

  /// The multiple of the base's power is the sum of a whole multiple and a fraction. Its error is
  /// the error of the power times the numerator: 2^96 units.
  void operator()(const BaseTurns& scale) const {
    const auto whole = static_cast<std::uint64_t>(scale.numerator / scale.denominator);
    const Number part = rational<Limbs>(scale.numerator % scale.denominator, scale.denominator);
    const Number ratio = exp_minus(logarithm_of_ratio());
    // Power 0 is 1, which is not a fraction. Whole turns vanish, so only `part` remains.
    Number power = times_power(ratio, ratio, std::max<std::int64_t>(first_, 1) - 1);
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const bool is_one = first_ == 0 && i == 0;
      turns_[i] = leading<Kept>(is_one ? part : power * whole + power * part);
      if (!is_one) power = power * ratio;
    }
  }

 private:
  /// -ln(w_(k+1) / w_k) / 2^log_unit_bits
  Number logarithm_of_ratio() const noexcept {
    return logarithm_of_base() / static_cast<std::uint64_t>(exponent_denominator(spec_));
  }

  Number logarithm_of_base() const noexcept {
    if constexpr (std::is_same_v<Number, Wide>) {
      if (spec_.base == usual_base) return logarithm_of_usual_base;
    }
    return natural_logarithm<Limbs>(spec_.base);
  }

  template <class Scaled>
  void fill(const Scaled& scaled) const {
    fill(scaled, logarithm_of_ratio());
  }

  template <class Scaled>
  void fill(const Scaled& scaled, const Number& logarithm) const {
    const Number ratio = exp_minus(logarithm);
    // Several chains, so that their products do not wait for each other.
    constexpr std::size_t chains = 4;
    Number turns[chains];
    turns[0] = times_power(leading<Limbs>(turns_of_one_radian), ratio, first_);
    for (std::size_t c = 1; c < chains; ++c) turns[c] = turns[c - 1] * ratio;
    const Number square = ratio * ratio, step = square * square;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      Number& chain = turns[i % chains];
      turns_[i] = leading<Kept>(scaled(chain, first_ + static_cast<std::int64_t>(i)));
      chain = chain * step;
    }
  }

  /// start ratio^k
  static Number times_power(Number start, Number ratio, std::int64_t k) noexcept {
    for (; k != 0; k >>= 1) {
      if ((k & 1) != 0) start = start * ratio;
      ratio = ratio * ratio;
    }
    return start;
  }

  const EncodingSpec& spec_;
  std::int64_t first_;
  std::span<Fraction<Kept>> turns_;
};

void compute_all(const EncodingSpec& spec, std::span<Turns> all) {
  const auto compute = [&]<class Rule>(const Rule& rule) {
    // A narrow ramp or a large multiple costs more than one limb of precision.
    constexpr bool is_costly =
        std::is_same_v<Rule, Llama3Scaling> || std::is_same_v<Rule, BaseTurns>;
    constexpr std::size_t limbs = is_costly ? 6 : 5;
    Rules<limbs, 4>(spec, 0, all)(rule);
  };
  std::visit(compute, spec.frequencies);
}

bool is_in_turns(const FrequencyRule& rule) noexcept {
  return std::holds_alternative<TurnFrequencies>(rule) || std::holds_alternative<BaseTurns>(rule);
}

}  // namespace

Frequencies::Frequencies(const EncodingSpec& spec)
    : spec_(spec), turns_(spec.d_model / 2), is_in_turns_(is_in_turns(spec.frequencies)) {
  compute_all(spec, std::span(turns_));
}

Frequencies::Frequencies(std::vector<PickedFrequency> picked)
    : picked_(std::move(picked)), is_in_turns_(false) {
  for (const auto& [from, k] : picked_) {
    turns_.push_back((*from)[k]);
    is_in_turns_ = is_in_turns_ || from->is_in_turns_;
  }
}

// Marked cold to keep the code small: few entries need it.
[[gnu::cold]] Widest Frequencies::widest(std::int64_t k) const noexcept {
  if (!picked_.empty()) return picked_[k].from->widest(picked_[k].k);
  Widest turns;
  std::visit(Rules<12, 12>(spec_, k, std::span(&turns, 1)), spec_.frequencies);
  return turns;
}

std::optional<unsigned> Frequencies::quarters_at(std::int64_t k,
                                                 std::int64_t position) const noexcept {
  const ReducedPhase reduced(widest(k) * static_cast<std::uint64_t>(position));
  // The phase is within 2^-587 turns.
  if (!is_zero(leading<512 / 64>(reduced.rest))) return {};
  return reduced.quadrant;
}

YarnRange yarn_range(const EncodingSpec& spec, const YarnScaling& yarn) noexcept {
  const auto d_model = static_cast<double>(spec.d_model);
  // Halved for the conversion, because the scaled logarithm may exceed 1/2.
  const double of_base = 2 * to_signed_double(natural_logarithm<5>(spec.base) / 2);
  const auto index = [&](double rotations) {
    const Wide logarithm = natural_logarithm<5>(static_cast<double>(yarn.trained_rows)) -
                           natural_logarithm<5>(rotations) - logarithm_of_two_pi;
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
  constexpr double radians_per_turn = 6.283185307179586;
  return radians_per_turn * to_signed_double(turns);
}

}  // namespace posenc::detail
