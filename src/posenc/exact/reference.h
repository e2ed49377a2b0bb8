// The reference: the truth that every backend is measured against.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/frequency.h"
#include "posenc/spec.h"

#include <cfloat>
#include <cstdint>
#include <string_view>

namespace posenc {

/// Sine and cosine of one frequency at one position. Each is the sum of its two parts, within
/// Reference::relative_error of the exact value, relatively.
struct ReferencePair {
  long double sine;
  long double cosine;
  double sine_rest = 0;  ///< 0 unless the integers judge
  double cosine_rest = 0;
};

/// What computes the exact values. Both are another method than any backend's first one.
enum class ReferenceMethod {
  long_double,  ///< phases of 256 bits, reduced to an eighth of a turn in two long doubles; then
                ///< sinl and cosl
  integers,     ///< the same phases, and the series of exact.h in integers: slower, and of every
                ///< platform
};

std::string_view to_string(ReferenceMethod method) noexcept;

/// The faster method that this platform has: its long double must have more bits than double, all
/// of them in one number (x87's 80 bits, or IEEE binary128).
inline constexpr ReferenceMethod reference_method = LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113
                                                        ? ReferenceMethod::long_double
                                                        : ReferenceMethod::integers;

/// Good at every position up to max_position.
class Reference {
 public:
  /// Throws InvalidArgument on a bad spec, or a method that this platform does not have.
  explicit Reference(const EncodingSpec& spec, ReferenceMethod method = reference_method);

  const EncodingSpec& spec() const noexcept { return spec_; }

  ReferencePair operator()(std::int64_t k, std::int64_t position) const noexcept;

  /// The value of that type nearest to the exact one: from `value`, the sine or cosine of that
  /// pair, if that is certain, else from 118 bits.
  double nearest(std::int64_t k, std::int64_t position, bool cosine, long double value,
                 DataType type = DataType::float32) const noexcept;

  /// Relative to the value. sinl and cosl of the C library are within 1 ulp (2^-63), and the rest
  /// of the phase adds half a one. The integers are within 2^-105.
  static constexpr long double relative_error = 0x1p-62L;

 private:
  EncodingSpec spec_;
  ReferenceMethod method_;
  Frequencies frequencies_;
};

}  // namespace posenc
