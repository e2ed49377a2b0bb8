// An RAII wrapper of mpfr_t, and the exact entries computed with it.
#pragma once

#include "posenc/exact/fixed_point.h"
#include "posenc/spec.h"

#include <mpfr.h>
#include <cstddef>
#include <cstdint>

namespace posenc::test {

class MpfrValue {
 public:
  static constexpr mpfr_prec_t precision = 640;

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

/// w_k = base^(-k / denominator), in radians per position.
inline MpfrValue exact_frequency(const EncodingSpec& spec, std::int64_t k) {
  MpfrValue exponent(static_cast<double>(-k));
  mpfr_div_si(exponent.get(), exponent.get(), static_cast<long>(exponent_denominator(spec)),
              MPFR_RNDN);
  const MpfrValue base(spec.base);
  MpfrValue frequency;
  mpfr_pow(frequency.get(), base.get(), exponent.get(), MPFR_RNDN);
  return frequency;
}

inline MpfrValue exact_phase(const EncodingSpec& spec, std::int64_t k, std::int64_t position) {
  MpfrValue phase = exact_frequency(spec, k);
  mpfr_mul_si(phase.get(), phase.get(), static_cast<long>(position), MPFR_RNDN);
  return phase;
}

/// The exact entry: sine or cosine of pos w_k, rounded to 640 bits.
inline MpfrValue exact_entry(const EncodingSpec& spec, std::int64_t k, std::int64_t position,
                             bool cosine) {
  MpfrValue value = exact_phase(spec, k, position);
  (cosine ? mpfr_cos : mpfr_sin)(value.get(), value.get(), MPFR_RNDN);
  return value;
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
  MpfrValue difference;
  mpfr_sub(difference.get(), a.get(), b.get(), MPFR_RNDN);
  mpfr_abs(difference.get(), difference.get(), MPFR_RNDN);
  mpfr_log2(difference.get(), difference.get(), MPFR_RNDN);
  return mpfr_get_d(difference.get(), MPFR_RNDN);
}

}  // namespace posenc::test
