// Exact entries, and the errors of a table against them. Internal: not installed.
#pragma once

#include "posenc/suite/error_tally.h"
#include "posenc/suite/reference.h"
#include "posenc/support/float_format.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace posenc::suite {

/// An exact entry as the sum of two doubles, with values that are derived from it once for all
/// tables.
struct ExactEntry {
  double high;
  double low;
  double nearest;
  double ulps_per_unit;  ///< 1 / the spacing of the type at the value
};

inline double ulps_per_unit(long double value, DataType type) noexcept {
  const FloatFormat format = format_of(type);
  const int ulp = value == 0 ? format.least_exponent : std::ilogb(value) - format.precision + 1;
  return std::ldexp(1.0, -std::max(ulp, format.least_exponent));
}

/// The distance of a value from the exact one, with a relative error of 2^-52. The first difference
/// is exact if the two are within a factor of two of each other.
inline double distance(double value, double high, double low) noexcept {
  return std::fabs((value - high) - low);
}

/// The two columns of a frequency, and their functions.
struct PairColumns {
  std::array<std::int64_t, 2> columns;  ///< equal if the frequency has only one column
  std::array<bool, 2> is_cosine;
};

/// The columns of the sine and the cosine of frequency k in this layout.
inline PairColumns pair_columns(Layout layout, std::int64_t d_model, std::int64_t k) noexcept {
  const std::int64_t half = d_model / 2;
  switch (layout) {
    case Layout::interleaved: return {{2 * k, 2 * k + 1}, {false, true}};
    case Layout::halves: return {{k, half + k}, {false, true}};
    case Layout::halves_cos_first: break;
  }
  return {{half + k, k}, {false, true}};
}

/// Writes the exact entries of frequency k at this position, times a factor, for a table of this
/// type.
inline void fill_exact_pair(const Reference& reference, std::int64_t k, std::int64_t position,
                            const PairColumns& to, double factor, DataType type,
                            std::vector<ExactEntry>& row) {
  const ReferencePair pair = reference(k, position);
  for (const std::size_t i : {0, 1}) {
    const bool is_cosine = to.is_cosine[i];
    const long double value = is_cosine ? pair.cosine : pair.sine,
                      scaled = value * static_cast<long double>(factor);
    const double rest = (is_cosine ? pair.cosine_rest : pair.sine_rest) * factor;
    const auto high = static_cast<double>(scaled);
    const double nearest_value =
        factor == 1 ? reference.nearest(k, position, is_cosine, value, type)
                    : with_type(type, [&]<class T>(T) { return to_double(nearest<T>(high)); });
    row[static_cast<std::size_t>(to.columns[i])] = {
        high, static_cast<double>(scaled - static_cast<long double>(high)) + rest, nearest_value,
        ulps_per_unit(scaled, type)};
    if (to.columns[0] == to.columns[1]) return;
  }
}

/// Writes the exact entries of one row of the reference's encoding.
inline void fill_exact_row(const Reference& reference, DataType type, std::int64_t position,
                           std::vector<ExactEntry>& row) {
  const EncodingSpec& spec = reference.spec();
  for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
    fill_exact_pair(reference, k, position, pair_columns(spec.layout, spec.d_model, k), 1, type,
                    row);
  }
}

/// NaN, infinity and all larger errors count as this error.
inline constexpr double largest_error = 4.0;

/// Adds the errors of one row. The exact entries are in the order of its columns.
inline void compare_row(std::int64_t position, const std::vector<ExactEntry>& exact,
                        const double* got, Tally& tally) {
  ErrorSum of_row;
  for (std::size_t channel = 0; channel < exact.size(); ++channel) {
    const auto [high, low, nearest, ulps_per_unit] = exact[channel];
    const double value = got[channel], difference = (value - high) - low;
    const bool is_nearest = value == nearest;
    double size = distance(value, high, low);
    if (!(size <= largest_error)) size = largest_error;
    // The nearest value is at most half an ulp away. For float64, the reference is not exact enough
    // to show this.
    if (is_nearest) size = std::min(size, 0.5 / ulps_per_unit);
    const double error = difference < 0 ? -size : size, ulps = size * ulps_per_unit;
    of_row.add(error, ulps);
    tally.add({position, static_cast<std::int64_t>(channel), value, high, size, ulps}, error,
              is_nearest);
  }
  tally.by_octave[octave(position)].merge(of_row);
}

}  // namespace posenc::suite
