// The convention whose frequencies are those of a table.
#include "posenc/exact/frequency.h"
#include "posenc/measuring/statistics.h"
#include "posenc/tuning/internal/identify.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace posenc {
namespace {

/// From the usual to the unusual.
constexpr double known_bases[] = {1e4, 5e5, 1e6, 1.5e5, 1e7, 5e6, 256, 100, 1e5, 2e6, 8e6, 1e3};

constexpr std::int64_t known_trained_rows[] = {8192,  4096,  32768,  2048,
                                               16384, 65536, 131072, 262144};

/// The number rounded to that many digits.
double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit =
      std::pow(10.0, std::floor(std::log10(std::fabs(value))) - static_cast<double>(digits - 1));
  return std::round(value / unit) * unit;
}

/// What is known of a logarithm: ln w_k.
struct Point {
  double k;
  double log_frequency;
  double uncertainty;  ///< relative
};

class Fit {
 public:
  Fit(std::span<const FrequencyEstimate> estimates, std::int64_t count, double factor,
      const std::optional<EncodingSpec>& expected)
      : half_(count), factor_(factor), expected_(expected) {
    constexpr double most_uncertain = 0.05;
    for (const FrequencyEstimate& each : estimates) {
      if (!(each.frequency > 0) || each.uncertainty > most_uncertain * each.frequency) continue;
      points_.push_back({static_cast<double>(each.k), std::log(each.frequency),
                         each.uncertainty / each.frequency});
    }
  }

  /// The candidate that is the most usual of those that fit about as well as the best.
  std::optional<EncodingSpec> best() {
    const std::vector<EncodingSpec> fitting = all_within(1.5, 1);
    if (points_.empty() || fitting.empty()) return {};
    return fitting.front();
  }

  /// All that may be the one, from the usual to the unusual.
  std::vector<EncodingSpec> plausible() {
    constexpr std::size_t most = 32;
    std::vector<EncodingSpec> fitting = all_within(3, 4);
    fitting.resize(std::min(fitting.size(), most));
    return fitting;
  }

 private:
  /// The candidates whose cost is within `times` the least one, and within what float32
  /// frequencies are off by and `uncertainties` times what the estimates are uncertain by.
  std::vector<EncodingSpec> all_within(double times, double uncertainties) {
    add_candidates();
    if (points_.empty()) return candidates_;
    double least = std::numeric_limits<double>::infinity(), uncertainty = 0;
    std::vector<double> costs;
    for (const EncodingSpec& each : candidates_) {
      costs.push_back(cost(each));
      least = std::min(least, costs.back());
    }
    for (const Point& each : points_)
      uncertainty += each.uncertainty / static_cast<double>(points_.size());
    constexpr double of_float32 = 2e-6, worst_fit = 0.03;
    if (!(least <= worst_fit)) return {};
    std::vector<EncodingSpec> fitting;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (costs[i] <= times * least + of_float32 + uncertainties * uncertainty)
        fitting.push_back(candidates_[i]);
    }
    return fitting;
  }

  /// The mean distance of logarithms. A single frequency counts little, however far it is off.
  double cost(const EncodingSpec& spec) const {
    constexpr double most = 0.2;
    const std::vector<double> frequencies = frequencies_of(spec);
    double sum = 0;
    for (const Point& each : points_) {
      const double frequency = frequencies[static_cast<std::size_t>(each.k)];
      const double off = frequency > 0 ? std::fabs(std::log(frequency) - each.log_frequency) : most;
      sum += std::min(off, most);
    }
    return sum / static_cast<double>(points_.size());
  }

  /// The median slope of ln w_k over k, between the first point and those after it.
  double slope(double share) const {
    std::vector<double> slopes;
    const double last = points_.back().k * share;
    for (const Point& each : points_) {
      if (each.k > points_.front().k && (each.k <= last || slopes.size() < 2))
        slopes.push_back((each.log_frequency - points_.front().log_frequency) /
                         (each.k - points_.front().k));
    }
    return slopes.empty() ? 0 : median(std::move(slopes));
  }

  void add(double base, Spacing spacing, const FrequencyRule& rule = {}) {
    const EncodingSpec spec = {
        .d_model = 2 * half_, .base = base, .spacing = spacing, .frequencies = rule};
    try {
      validate(spec);
    } catch (const InvalidArgument&) {
      return;  // solved from noise
    }
    candidates_.push_back(spec);
  }

  void add_candidates() {
    if (expected_) candidates_.push_back(*expected_);
    for (const double base : known_bases) add(base, Spacing::paper);
    for (const double base : known_bases) add(base, Spacing::inclusive);
    if (points_.empty()) return;
    add_scaled();
    const double paper = std::exp(-slope(1) * static_cast<double>(half_)),
                 inclusive = std::exp(-slope(1) * static_cast<double>(half_ - 1));
    for (int digits = 1; digits <= 3; ++digits) add_rounded(paper, inclusive, digits);
    add_ntk(paper);
    for (int digits = 4; digits <= 6; ++digits) add_rounded(paper, inclusive, digits);
    add(paper, Spacing::paper);
    add_linear(paper);
  }

  void add_rounded(double paper, double inclusive, int digits) {
    add(rounded(paper, digits), Spacing::paper);
    add(rounded(inclusive, digits), Spacing::inclusive);
  }

  /// Rules that keep the frequencies at the upper end, or all of them but for a factor.
  void add_scaled() {
    const double head = std::exp(-slope(0.3) * static_cast<double>(half_));
    for (const double base : bases_near(head)) {
      add_linear(base);
      add_blends(base);
    }
  }

  /// A known base, of which a factor makes the one that is found.
  void add_ntk(double found) {
    const double dimension = 2 * static_cast<double>(half_);
    for (const double base : known_bases) {
      const double scaling = std::pow(found / base, (dimension - 2) / dimension);
      const double even = std::round(2 * scaling) / 2;
      if (even > 1 && even <= 64 && std::fabs(scaling / even - 1) < 0.01)
        add(base, Spacing::paper, NtkScaling{even});
    }
  }

  std::vector<double> bases_near(double head) const {
    std::vector<double> bases;
    for (const double base : known_bases) {
      if (std::fabs(std::log(base / head)) < 0.3) bases.push_back(base);
    }
    for (int digits = 1; digits <= 4; ++digits) bases.push_back(rounded(head, digits));
    return bases;
  }

  void add_linear(double base) {
    const double scaling =
        std::exp(-points_.front().log_frequency -
                 points_.front().k * std::log(base) / static_cast<double>(half_));
    if (std::fabs(scaling - 1) < 1e-3) return;
    for (const int digits : {1, 2, 3, 6}) {
      add(base, Spacing::paper, LinearScaling{rounded(scaling, digits)});
      add(base, Spacing::inclusive, LinearScaling{rounded(scaling, digits)});
    }
  }

  /// Llama 3.1's rule and YaRN, whose factor is that of the lowest frequencies.
  void add_blends(double base) {
    const double scaling = std::exp(-points_.back().log_frequency -
                                    points_.back().k * std::log(base) / static_cast<double>(half_));
    const double even = std::round(2 * scaling) / 2;
    if (even <= 1 || even > 1024 || std::fabs(scaling / even - 1) > 0.02) return;
    for (const std::int64_t rows : known_trained_rows) {
      add(base, Spacing::paper, Llama3Scaling{.factor = even, .trained_rows = rows});
      for (const bool truncate : {true, false}) {
        YarnScaling yarn = {.factor = even, .trained_rows = rows, .truncate = truncate};
        const double usual = attention_factor(FrequencyRule(yarn));
        if (std::fabs(factor_ - usual) > 0.01) yarn.attention_factor = 1;
        add(base, Spacing::paper, yarn);
      }
    }
  }

  std::int64_t half_;
  double factor_;
  const std::optional<EncodingSpec>& expected_;
  std::vector<Point> points_;
  std::vector<EncodingSpec> candidates_;
};

}  // namespace

std::vector<double> frequencies_of(const EncodingSpec& spec) {
  const Frequencies exact(spec);
  std::vector<double> all;
  for (std::int64_t k = 0; k < exact.count(); ++k) all.push_back(to_radians(exact[k]));
  return all;
}

std::optional<EncodingSpec> fit_frequencies(std::span<const FrequencyEstimate> estimates,
                                            std::int64_t count, double factor,
                                            const std::optional<EncodingSpec>& expected) {
  return Fit(estimates, count, factor, expected).best();
}

std::vector<EncodingSpec> plausible_frequencies(std::span<const FrequencyEstimate> estimates,
                                                std::int64_t count, double factor,
                                                const std::optional<EncodingSpec>& expected) {
  return Fit(estimates, count, factor, expected).plausible();
}

}  // namespace posenc
