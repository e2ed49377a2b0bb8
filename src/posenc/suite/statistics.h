// Order statistics of a few samples. Internal: not installed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace posenc::suite {
inline namespace internals {

/// The quantile by linear interpolation between order statistics. 0 <= share <= 1; samples are not
/// empty.
inline double quantile(std::vector<double> samples, double share) {
  std::sort(samples.begin(), samples.end());
  const double place = share * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return std::lerp(samples[below], samples[above], place - static_cast<double>(below));
}

inline double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

/// Half the interquartile range over the median: the relative noise of a sample.
inline double relative_iqr(const std::vector<double>& samples) {
  return (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / median(samples);
}

/// The larger of two errors. NaN if either is NaN, so that it fails every bound.
inline double worst(double known, double found) {
  return found > known || std::isnan(found) ? found : known;
}

}  // namespace internals
}  // namespace posenc::suite
