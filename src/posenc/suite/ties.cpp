#include "posenc/suite/ties.h"

#include "posenc/suite/statistics.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace posenc::suite {
inline namespace internals {
namespace {

/// P(T < t) of Student's t, for t >= 0. Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
double student_cdf(double t, std::size_t degrees) {
  const auto n = static_cast<double>(degrees);
  const double angle = std::atan(t / std::sqrt(n)), cosine = std::cos(angle),
               sine = std::sin(angle);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1, sum = degrees > 1 ? term : 0;
  for (std::size_t k = is_odd ? 3 : 2; k < degrees; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double inside =
      is_odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;  // P(-t < T < t)
  return (1 + inside) / 2;
}

/// The t for which student_cdf() is `share`, within a relative 1e-9. `share` is 0.5 to below 1.
double student_quantile(double share, std::size_t degrees) {
  double low = 0, high = 1;
  while (student_cdf(high, degrees) < share) high *= 2;
  while (high - low > 1e-9 * high) {
    const double middle = std::midpoint(low, high);
    (student_cdf(middle, degrees) < share ? low : high) = middle;
  }
  return high;
}

/// A simpler method may be preferred if the upper end of its ratio's interval is at most this, or
/// if its ratio is at most 1 + indistinguishable.
constexpr double acceptable = 1.1;

double mean_logarithm(std::span<const double> values) noexcept {
  double sum = 0;
  for (const double each : values) sum += std::log(each);
  return sum / static_cast<double>(values.size());
}

double distance(double ratio) noexcept { return std::max(ratio, 1 / ratio) - 1; }

}  // namespace

PairedRatio paired_ratio(std::span<const double> one, std::span<const double> other,
                         std::size_t comparisons) {
  const std::size_t count = std::min(one.size(), other.size());
  if (count == 0) return {};
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < count; ++i) logarithms.push_back(std::log(one[i] / other[i]));
  double mean = 0, squares = 0;
  for (const double each : logarithms) mean += each / static_cast<double>(count);
  PairedRatio paired = {.ratio = std::exp(mean)};
  if (count < 2) return paired;
  for (const double each : logarithms) squares += (each - mean) * (each - mean);
  const double t = student_quantile(
      1 - 0.025 / static_cast<double>(std::max<std::size_t>(comparisons, 1)), count - 1);
  const double half =
      t * std::sqrt(squares / static_cast<double>(count - 1) / static_cast<double>(count));
  paired.low = std::exp(mean - half);
  paired.high = std::exp(mean + half);
  return paired;
}

bool is_tie(const PairedRatio& ratio, double noise_floor) noexcept {
  const bool excludes_one = ratio.low > 1 || ratio.high < 1;
  return !excludes_one || distance(ratio.ratio) <= std::max(indistinguishable, noise_floor);
}

double noise_floor_of(std::span<const std::vector<double>> self_ratios) {
  double floor = 0;
  for (const std::vector<double>& ratios : self_ratios) {
    if (ratios.empty()) continue;
    std::vector<double> away;
    for (const double each : ratios) away.push_back(distance(each));
    std::ranges::sort(away);
    floor = std::max(floor, away[away.size() - 1 - away.size() / 5]);
  }
  return floor;
}

double session_floor_of(std::span<const std::vector<double>> self_ratios) {
  std::vector<double> means;
  for (const std::vector<double>& ratios : self_ratios) {
    if (!ratios.empty()) means.push_back(std::exp(mean_logarithm(ratios)));
  }
  return means.empty() ? 0 : noise_floor_of(std::span(&means, 1));
}

double common_factor(std::span<const double> ratios_of_limits, std::span<const double> all_ratios) {
  if (ratios_of_limits.empty() || all_ratios.empty()) return 1;
  const double of_limits = median({ratios_of_limits.begin(), ratios_of_limits.end()});
  const double of_all = median({all_ratios.begin(), all_ratios.end()});
  if ((of_limits > 1) != (of_all > 1)) return 1;
  return distance(of_limits) < distance(of_all) ? of_limits : of_all;
}

Choice choose(std::span<const Candidate* const> candidates, double noise_floor) {
  const auto rank = [](const Candidate* each) {
    const Isa isa = each->isa.empty() ? Isa::portable : parse_isa(each->isa);
    return std::pair(each->method, -static_cast<int>(isa));
  };
  const Candidate* const fastest = *std::ranges::min_element(
      candidates, {},
      [](const Candidate* each) { return mean_logarithm(each->seconds_per_entry); });
  Choice choice = {fastest, fastest};
  for (const Candidate* const each : candidates) {
    const PairedRatio ratio = paired_ratio(each->seconds_per_entry, fastest->seconds_per_entry);
    // Noise may hide a large difference, and simplicity is not worth that.
    const bool costs_little = ratio.ratio <= 1 + indistinguishable || ratio.high <= acceptable;
    if (is_tie(ratio, noise_floor) && costs_little && rank(each) < rank(choice.preferred))
      choice.preferred = each;
  }
  return choice;
}

}  // namespace internals
}  // namespace posenc::suite
