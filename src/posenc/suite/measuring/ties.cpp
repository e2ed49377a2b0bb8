#include "posenc/suite/measuring/ties.h"

#include <array>

namespace posenc::suite {
namespace {

/// Student's t at 0.975 for 1, 2, ... degrees of freedom. For more it falls to 1.96, and the last
/// value is used, which is conservative.
constexpr std::array t_975 = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                              2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                              2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                              2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

/// The largest ratio, at the upper end of its interval, at which the simpler method is preferred.
constexpr double acceptable = 1.1;

double distance(double ratio) noexcept { return std::max(ratio, 1 / ratio) - 1; }

}  // namespace

PairedRatio paired_ratio(std::span<const double> one, std::span<const double> other) {
  const std::size_t count = std::min(one.size(), other.size());
  if (count == 0) return {};
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < count; ++i) logarithms.push_back(std::log(one[i] / other[i]));
  double mean = 0, squares = 0;
  for (const double each : logarithms) mean += each / static_cast<double>(count);
  PairedRatio paired = {.ratio = std::exp(mean)};
  if (count < 2) return paired;
  for (const double each : logarithms) squares += (each - mean) * (each - mean);
  const double t = t_975[std::min(count - 1, t_975.size()) - 1];
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

double common_factor(std::span<const double> ratios_of_limits, std::span<const double> all_ratios) {
  if (ratios_of_limits.empty() || all_ratios.empty()) return 1;
  const double of_limits = median({ratios_of_limits.begin(), ratios_of_limits.end()});
  const double of_all = median({all_ratios.begin(), all_ratios.end()});
  if ((of_limits > 1) != (of_all > 1)) return 1;
  return distance(of_limits) < distance(of_all) ? of_limits : of_all;
}

Choice choose(std::span<const Candidate* const> candidates, double noise_floor) {
  const auto mean_logarithm = [](const Candidate* each) {
    double sum = 0;
    for (const double seconds : each->seconds_per_entry) sum += std::log(seconds);
    return sum / static_cast<double>(each->seconds_per_entry.size());
  };
  const auto rank = [](const Candidate* each) {
    const Isa isa = each->isa.empty() ? Isa::portable : parse_isa(each->isa);
    return std::pair(each->method, -static_cast<int>(isa));
  };
  const Candidate* const fastest = *std::ranges::min_element(candidates, {}, mean_logarithm);
  Choice choice = {fastest, fastest};
  for (const Candidate* const each : candidates) {
    const PairedRatio ratio = paired_ratio(each->seconds_per_entry, fastest->seconds_per_entry);
    // Noise may hide a large difference, which being simpler is not worth.
    const bool costs_little = ratio.ratio <= 1 + indistinguishable || ratio.high <= acceptable;
    if (is_tie(ratio, noise_floor) && costs_little && rank(each) < rank(choice.preferred))
      choice.preferred = each;
  }
  return choice;
}

}  // namespace posenc::suite
