// The reference: the exact values that every backend is measured against.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/frequency.h"
#include "posenc/exact/sincos.h"
#include "posenc/spec.h"

#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace posenc::suite {
inline namespace internals {

/// Sine and cosine of one frequency at one position. Each function is the sum of its value and its
/// rest. The relative error of the sum is at most Reference::relative_error.
struct ReferencePair {
  long double sine;
  long double cosine;
  double sine_rest = 0;  ///< 0 unless the method is integers
  double cosine_rest = 0;
};

/// The method that computes the exact values. Both methods start from the frequencies and phases of
/// exact/frequency.h, as the vectorised backends do. A comparison with the reference would
/// not show an error of a frequency, because the backend would have the same error. So tests
/// compare the frequencies of every rule with MPFR. From the phases on, no backend uses either
/// method, except that rotation recomputes uncertain values in integers.
enum class ReferenceMethod {
  /// Reduces phases of 256 bits to an eighth of a turn in two long doubles, then calls sinl and
  /// cosl.
  long_double,
  /// Evaluates the series of exact/sincos.h in integers for the same phases. It is slower, but
  /// works on every platform.
  integers,
};

std::string_view to_string(ReferenceMethod method) noexcept;

/// The fastest method on this platform. The method long_double needs a format with more bits than
/// double: x87's 80 bits or IEEE binary128, not a pair of doubles.
inline constexpr ReferenceMethod reference_method = LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113
                                                        ? ReferenceMethod::long_double
                                                        : ReferenceMethod::integers;

/// A value as the sum of two parts. The leading part has as many bits as a long double, but at most
/// 64. The rest is rounded to double.
struct SplitValue {
  long double leading;
  double rest;
};
SplitValue split(const ExactValue<>& value) noexcept;

/// Exact values at every position up to max_position.
class Reference {
 public:
  /// Throws InvalidArgument if the spec is not allowed, or if this platform does not have the
  /// method.
  explicit Reference(const EncodingSpec& spec, ReferenceMethod method = reference_method);

  const EncodingSpec& spec() const noexcept { return spec_; }

  ReferencePair operator()(std::int64_t k, std::int64_t position) const noexcept;

  /// The value of this type nearest to the exact value. `value` is the sine or cosine from
  /// operator(). If its rounding is certain, `value` is rounded. Otherwise the entry is computed
  /// and rounded in integers (entry.h).
  double nearest(std::int64_t k, std::int64_t position, bool cosine, long double value,
                 DataType type = DataType::float32) const noexcept;

  /// The largest relative error for a given phase. The error of the phase itself is below 2^-198
  /// radians. sinl and cosl of the C library are within 1 ulp (2^-63), and the rest of the phase
  /// adds half an ulp. The method of integers is within 2^-105.
  static constexpr long double relative_error = 0x1p-62L;

 private:
  EncodingSpec spec_;
  ReferenceMethod method_;
  Frequencies frequencies_;
};

/// An exact entry as the sum of two doubles, with values that are derived from it once for all
/// tables.
struct ExactEntry {
  double high;
  double low;
  double nearest;
  double ulps_per_unit;  ///< 1 / the spacing of the type at the value

  /// The distance between `value` and the exact entry, with a relative error of 2^-52. The first
  /// difference is exact if `value` and `high` are within a factor of two of each other.
  double distance(double value) const noexcept { return std::fabs((value - high) - low); }
};

/// The two columns of a frequency, and their functions.
struct PairColumns {
  std::array<std::int64_t, 2> columns;  ///< equal if the frequency has only one column
  std::array<bool, 2> is_cosine;
};

/// Writes the exact entries of frequency k at this position, times a factor, for a table of this
/// type.
void fill_exact_pair(const Reference& reference, std::int64_t k, std::int64_t position,
                     const PairColumns& to, double factor, DataType type,
                     std::vector<ExactEntry>& row);

/// Writes the exact entries of one row of the reference's encoding.
void fill_exact_row(const Reference& reference, DataType type, std::int64_t position,
                    std::vector<ExactEntry>& row);

}  // namespace internals
}  // namespace posenc::suite
