#include "posenc/suite/error_tally.h"

namespace posenc::suite {
inline namespace internals {
namespace {

/// The bars of the histogram: one from 0 to 1/16 ulp, and then one per octave up to the largest
/// error. The last bar also counts errors beyond the histogram.
std::vector<UlpCount> histogram_of(const Tally& tally, const ErrorSum& all) {
  constexpr int first_exponent = -4;
  std::vector<UlpCount> bars;
  std::int64_t counted = 0;
  for (int exponent = first_exponent; counted < all.count; ++exponent) {
    const double end = std::ldexp(1.0, exponent);
    const bool is_last = end >= all.max_ulp || exponent == decltype(tally.ulps)::greatest;
    const std::int64_t up_to = is_last ? all.count : tally.ulps.up_to_power(exponent);
    bars.push_back(
        {bars.empty() ? 0 : end / 2, is_last ? std::max(end, all.max_ulp) : end, up_to - counted});
    counted = up_to;
  }
  return bars;
}

}  // namespace

void compare_row(std::int64_t position, const std::vector<ExactEntry>& exact, const double* got,
                 Tally& tally) {
  ErrorSum of_row;
  for (std::size_t channel = 0; channel < exact.size(); ++channel) {
    const auto& [high, low, nearest, ulps_per_unit] = exact[channel];
    const double value = got[channel], difference = (value - high) - low;
    const bool is_nearest = value == nearest;
    double size = std::fabs(difference);
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

void set_errors(AccuracyReport& report, RowRange rows, DataType type, const Tally& tally) {
  report.table.rows = rows;
  report.table.type = type;
  report.reference = to_string(reference_method);
  ErrorSum all;
  for (const ErrorSum& each : tally.by_channel) {
    all.merge(each);
    report.by_channel.push_back(each.summary());
  }
  report.entries = all.count;
  report.wrongly_rounded = tally.wrongly_rounded;
  const double wrong = static_cast<double>(tally.wrongly_rounded) / static_cast<double>(all.count);
  report.error = {all.summary(), 1 - wrong};
  report.worst_by_error = tally.by_error.all();
  report.worst_by_ulp = tally.by_ulp.all();
  for (const double share : {0.5, 0.9, 0.99, 0.999, 0.9999}) {
    report.quantiles.push_back({share,
                                std::min(tally.histogram.quantile(share, all.count), all.max_abs),
                                std::min(tally.ulps.quantile(share, all.count), all.max_ulp)});
  }
  report.quantiles.push_back({1.0, all.max_abs, all.max_ulp});
  report.by_ulp = histogram_of(tally, all);
  report.map = tally.map.map();
  const std::int64_t last = rows.first + rows.count - 1;
  const std::int64_t nearest = std::max({std::int64_t{0}, rows.first, -last}),
                     farthest = std::max(last, -rows.first);
  for (std::size_t i = 0; i < octaves; ++i) {
    if (tally.by_octave[i].count == 0) continue;
    const std::int64_t begin = std::max(nearest, i == 0 ? 0 : std::int64_t{1} << (i - 1));
    const std::int64_t end = std::min(farthest + 1, std::int64_t{1} << i);
    report.by_position.push_back({{begin, end - begin}, tally.by_octave[i].summary()});
  }
}

}  // namespace internals
}  // namespace posenc::suite
