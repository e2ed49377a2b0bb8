// An RAII wrapper of mpfr_t, and the exact entries computed with it.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"
#include "posenc/spec.h"
#include "posenc/support/float_format.h"
#include "support.h"

#include <mpfr.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <variant>

namespace posenc::test {

class MpfrValue {
 public:
  static constexpr mpfr_prec_t precision = 1024;

  MpfrValue() { mpfr_init2(value_, precision); }
  explicit MpfrValue(double value) : MpfrValue() { mpfr_set_d(value_, value, MPFR_RNDN); }
  ~MpfrValue() { mpfr_clear(value_); }
  MpfrValue(const MpfrValue& other) : MpfrValue() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  MpfrValue& operator=(const MpfrValue& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }

  mpfr_ptr get() noexcept { return value_; }
  mpfr_srcptr get() const noexcept { return value_; }

 private:
  mpfr_t value_;
};

/// The result of a function of MPFR: computed(mpfr_add, a, b).
template <class Function, class... Operands>
MpfrValue computed(Function function, const Operands&... operands) {
  MpfrValue result;
  function(result.get(), operands.get()..., MPFR_RNDN);
  return result;
}

inline MpfrValue operator+(const MpfrValue& a, const MpfrValue& b) {
  return computed(mpfr_add, a, b);
}
inline MpfrValue operator-(const MpfrValue& a, const MpfrValue& b) {
  return computed(mpfr_sub, a, b);
}
inline MpfrValue operator*(const MpfrValue& a, const MpfrValue& b) {
  return computed(mpfr_mul, a, b);
}
inline MpfrValue operator/(const MpfrValue& a, const MpfrValue& b) {
  return computed(mpfr_div, a, b);
}
inline bool operator<(const MpfrValue& a, const MpfrValue& b) {
  return mpfr_less_p(a.get(), b.get()) != 0;
}
inline MpfrValue two_pi() { return computed(mpfr_const_pi) * MpfrValue(2); }
inline MpfrValue sine_or_cosine(const MpfrValue& angle, bool is_cosine) {
  return computed(is_cosine ? mpfr_cos : mpfr_sin, angle);
}

/// The frequency of a rule, in radians per position, from its formula.
struct ExactFrequency {
  const EncodingSpec& spec;
  std::int64_t k;

  /// w_k = base^(-k / denominator)
  MpfrValue of_base(const MpfrValue& base) const {
    return computed(mpfr_pow, base, integer(-k) / integer(exponent_denominator(spec)));
  }
  MpfrValue of_base() const { return of_base(MpfrValue(spec.base)); }
  static MpfrValue integer(std::int64_t value) { return MpfrValue(static_cast<double>(value)); }
  /// w r + w / factor (1 - r)
  MpfrValue blend(double factor, const MpfrValue& r) const {
    return of_base() * r + of_base() / MpfrValue(factor) * (MpfrValue(1) - r);
  }

  MpfrValue operator()(const BaseFrequencies&) const { return of_base(); }
  MpfrValue operator()(const OwnFrequencies& own) const {
    return MpfrValue(own.values[static_cast<std::size_t>(k)]);
  }
  MpfrValue operator()(const LinearScaling& linear) const {
    return of_base() / MpfrValue(linear.factor);
  }
  MpfrValue operator()(const NtkScaling& ntk) const {
    if (k == 0) return MpfrValue(1);
    const MpfrValue exponent = integer(spec.d_model) / integer(spec.d_model - 2);
    return of_base(MpfrValue(spec.base) * computed(mpfr_pow, MpfrValue(ntk.factor), exponent));
  }
  MpfrValue operator()(const YarnScaling& yarn) const {
    const auto [low, high] = yarn_range(spec, yarn);
    const double left = high - static_cast<double>(k);
    if (left >= high - low) return of_base();
    if (left <= 0) return of_base() / MpfrValue(yarn.factor);
    return blend(yarn.factor, MpfrValue(left) / MpfrValue(high - low));
  }
  MpfrValue operator()(const Llama3Scaling& llama3) const {
    const MpfrValue turns = integer(llama3.trained_rows) * of_base() / two_pi();
    const MpfrValue low(llama3.low_frequency_factor), high(llama3.high_frequency_factor);
    if (turns < low) return of_base() / MpfrValue(llama3.factor);
    if (high < turns) return of_base();
    return blend(llama3.factor, (turns - low) / (high - low));
  }
  MpfrValue operator()(const LongRopeScaling& longrope) const {
    return of_base() / MpfrValue(longrope.factors[static_cast<std::size_t>(k)]);
  }
  MpfrValue operator()(const ProportionalScaling& proportional) const {
    return k < proportional.turned ? of_base() / MpfrValue(proportional.factor) : MpfrValue(0);
  }
  MpfrValue operator()(const TurnFrequencies&) const { return two_pi() * turns(1); }
  MpfrValue operator()(const BaseTurns&) const { return two_pi() * turns(1); }

  bool is_in_turns() const {
    return std::holds_alternative<TurnFrequencies>(spec.frequencies) ||
           std::holds_alternative<BaseTurns>(spec.frequencies);
  }
  /// The turns at a position. Exact if they are rational and a quotient of 1024 bits.
  MpfrValue turns(std::int64_t position) const {
    if (const auto* const given = std::get_if<TurnFrequencies>(&spec.frequencies)) {
      const auto at = static_cast<std::size_t>(k);
      return integer(given->numerators[at]) * integer(position) / integer(given->denominators[at]);
    }
    const BaseTurns& scale = std::get<BaseTurns>(spec.frequencies);
    return of_base() * integer(scale.numerator) * integer(position) / integer(scale.denominator);
  }
};

inline MpfrValue exact_frequency(const EncodingSpec& spec, std::int64_t k) {
  return std::visit(ExactFrequency{spec, k}, spec.frequencies);
}

/// The exact entry: sine or cosine of pos w_k, rounded to 1024 bits.
inline MpfrValue exact_entry(const EncodingSpec& spec, std::int64_t k, std::int64_t position,
                             bool is_cosine) {
  if (const ExactFrequency frequency{spec, k}; frequency.is_in_turns()) {
    MpfrValue turns = frequency.turns(position);  // MPFR knows its exact zeros
    (is_cosine ? mpfr_cosu : mpfr_sinu)(turns.get(), turns.get(), 1, MPFR_RNDN);
    return turns;
  }
  return sine_or_cosine(exact_frequency(spec, k) * ExactFrequency::integer(position), is_cosine);
}

/// The bits of the value of `type` that is nearest to `value`, subnormal values included.
inline std::uint64_t rounded_by_mpfr(const MpfrValue& value, DataType type) {
  if (mpfr_zero_p(value.get()) != 0) return 0;
  const FloatFormat format = format_of(type);
  // |value| is in [2^(exponent - 1), 2^exponent).
  const auto exponent = static_cast<int>(mpfr_get_exp(value.get()));
  const int ulp = std::max(exponent - format.precision, format.least_exponent);
  MpfrValue multiple = computed(mpfr_abs, value);
  mpfr_mul_2si(multiple.get(), multiple.get(), -ulp, MPFR_RNDN);
  const MpfrValue whole = computed(mpfr_rint, multiple);
  const double magnitude = std::ldexp(mpfr_get_d(whole.get(), MPFR_RNDN), ulp);  // exact
  const double rounded = mpfr_sgn(value.get()) < 0 ? -magnitude : magnitude;
  return with_type(type,
                   [&]<class T>(T) -> std::uint64_t { return bits(posenc::nearest<T>(rounded)); });
}

template <std::size_t Limbs>
MpfrValue to_mpfr(const Fraction<Limbs>& fraction) {
  MpfrValue sum(0.0);
  for (const std::uint64_t limb : fraction.limb) {
    mpfr_mul_2ui(sum.get(), sum.get(), 64, MPFR_RNDN);
    mpfr_add_ui(sum.get(), sum.get(), limb, MPFR_RNDN);
  }
  mpfr_div_2ui(sum.get(), sum.get(), 64 * Limbs, MPFR_RNDN);
  return sum;
}

/// log2 |a - b|; -inf if a and b are equal.
inline double log2_distance(const MpfrValue& a, const MpfrValue& b) {
  const MpfrValue distance = computed(mpfr_abs, a - b);
  return mpfr_get_d(computed(mpfr_log2, distance).get(), MPFR_RNDN);
}

}  // namespace posenc::test
