#include "posenc/suite/checking/conventions.h"

#include "posenc/exact/frequency.h"
#include "posenc/suite/measuring/statistics.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

namespace posenc::suite {
namespace {

constexpr double pi = std::numbers::pi, two_pi = 2 * pi;

/// From the usual to the unusual.
constexpr double known_bases[] = {1e4, 5e5, 1e6, 1.5e5, 1e7, 5e6, 256,
                                  100, 1e5, 2e6, 8e6,   1e3, 1e8, 1e4 / two_pi};

constexpr std::int64_t known_trained_rows[] = {8192,  4096,  32768,  2048,
                                               16384, 65536, 131072, 262144};

/// What positions are divided by, where that is no number of few digits.
constexpr double known_factors[] = {
    two_pi, 1 / two_pi,          180 / pi,           pi / 180, pi, 1 / pi, std::numbers::e, 1e3,
    1e-3,   std::numbers::sqrt2, 1 / std::numbers::e};

/// The number rounded to that many digits.
double rounded_to_digits(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit =
      std::pow(10.0, std::floor(std::log10(std::fabs(value))) - static_cast<double>(digits - 1));
  // As a decimal number is read: 0.1 is 1 / 10, not 1 * 0.1.
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                  : std::round(value / unit) * unit;
}

constexpr double bits_of_digit = 3.3, bits_of_double = 53;

/// ln w_k.
struct Point {
  double k, log_frequency, uncertainty;
};

/// ln w_k = intercept - slope k.
struct Line {
  double slope, intercept;
};

double at_median(std::vector<double> all) { return all.empty() ? 0 : median(std::move(all)); }

/// Of most of the points: a frequency beyond half a turn a row looks like a slower one.
Line line_through(std::span<const Point> points) {
  std::vector<double> slopes, intercepts;
  const std::size_t stride = 1 + points.size() / 48;
  for (std::size_t i = 0; i < points.size(); i += stride)
    for (std::size_t j = i + 1; j < points.size(); j += stride)
      slopes.push_back((points[i].log_frequency - points[j].log_frequency) /
                       (points[j].k - points[i].k));
  Line line = {at_median(std::move(slopes)), 0};
  for (const Point& each : points) intercepts.push_back(each.log_frequency + line.slope * each.k);
  line.intercept = at_median(std::move(intercepts));
  // Least squares of those near it.
  constexpr double near = 0.02;
  double s = 0, sk = 0, sy = 0, skk = 0, sky = 0;
  for (const Point& each : points) {
    if (std::fabs(each.log_frequency - line.intercept + line.slope * each.k) > near) continue;
    const double weight = 1 / (each.uncertainty * each.uncertainty + 1e-14);
    s += weight, sk += weight * each.k, sy += weight * each.log_frequency;
    skk += weight * each.k * each.k, sky += weight * each.k * each.log_frequency;
  }
  const double determinant = s * skk - sk * sk;
  if (!(determinant > 1e-9 * s * skk)) return line;
  line.slope = -(s * sky - sk * sy) / determinant;
  line.intercept = (skk * sy - sk * sky) / determinant;
  return line;
}

class Conventions {
 public:
  Conventions(std::span<const FrequencyEstimate> estimates, std::int64_t count, double factor,
              const std::optional<EncodingSpec>& expected)
      : estimates_(estimates), count_(count), factor_(factor) {
    constexpr double most_uncertain = 0.05;
    for (const FrequencyEstimate& each : estimates) {
      if (!(each.frequency > 0) || each.uncertainty > most_uncertain * each.frequency) continue;
      points_.push_back({static_cast<double>(each.k), std::log(each.frequency),
                         each.uncertainty / each.frequency});
    }
    std::ranges::sort(points_, {}, &Point::k);
    if (expected) add(*expected, 0);
    add_known();
    if (points_.empty()) return;
    const std::span all(points_);
    const auto head_end = std::ranges::find_if(
        points_, [&](const Point& each) { return each.k > 0.3 * points_.back().k; });
    const std::span head =
        all.first(std::max<std::size_t>(std::min<std::size_t>(4, all.size()),
                                        static_cast<std::size_t>(head_end - points_.begin())));
    for (const std::span<const Point> part : {all, head}) add_fitted(line_through(part));
  }

  /// Those that leave the fewest bits open.
  std::vector<Convention> nearest() && {
    constexpr std::size_t most = 24;
    if (points_.empty()) return std::move(all_);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < all_.size(); ++i)
      order.emplace_back(all_[i].bits + open_bits(all_[i]), i);
    std::ranges::sort(order);
    // The most usual ones are kept, whatever a few noisy rows show.
    constexpr double usual = 6;
    std::vector<Convention> nearest;
    for (const auto& [bits, i] : order)
      if (nearest.size() < most || all_[i].bits < usual) nearest.push_back(std::move(all_[i]));
    return nearest;
  }

 private:
  double open_bits(const Convention& convention) const {
    const std::vector<double> frequencies = frequencies_of(convention.spec);
    double bits = 0;
    for (const FrequencyEstimate& each : estimates_) {
      if (!std::isfinite(each.frequency)) continue;
      const double expected =
          static_cast<double>(convention.step) * frequencies[static_cast<std::size_t>(each.k)];
      const double off = std::remainder(expected - each.frequency, two_pi);
      bits += std::log2(1 + std::fabs(off) / (each.uncertainty + 1e-7 * std::fabs(each.frequency)));
    }
    return bits;
  }

  void add(const EncodingSpec& spec, double bits, std::int64_t step = 1, std::string mistake = {},
           const EncodingSpec& intended = {}) {
    try {
      validate(spec);
    } catch (const InvalidArgument&) {
      return;  // solved from noise
    }
    for (const Convention& each : all_)
      if (each.spec == spec && each.step == step) return;
    all_.push_back({spec, step, bits, std::move(mistake), intended});
  }

  EncodingSpec spec_of(double base, Spacing spacing, FrequencyRule rule = {}) const {
    return {
        .d_model = 2 * count_, .base = base, .spacing = spacing, .frequencies = std::move(rule)};
  }

  /// Takes as many bits as there are usual ones before it.
  void add_known() {
    double known = 1;
    for (const double base : known_bases) {
      for (const Spacing spacing : all_spacings)
        add(spec_of(base, spacing), 2 * std::log2(known + (spacing == Spacing::paper ? 0 : 1)));
      known += 2;
    }
    for (const double factor : {8.0, 32.0})  // Llama 3.1's and 3.2's
      add(spec_of(5e5, Spacing::paper, Llama3Scaling{.factor = factor}), factor == 8 ? 4 : 5);
    for (const Spacing spacing : all_spacings) {
      std::vector<double> growing, reversed;
      const EncodingSpec usual = spec_of(1e4, spacing);
      for (const double each : frequencies_of(usual)) {
        growing.push_back(1 / each);
        reversed.insert(reversed.begin(), each);
      }
      add(spec_of(1e4, spacing, OwnFrequencies{growing}), 12, 1,
          "the minus of the exponent is missing: the frequencies are 1 .. 10000", usual);
      add(spec_of(1e4, spacing, OwnFrequencies{reversed}), 12, 1,
          "the frequencies are in reversed order", usual);
    }
    add(spec_of(1e4, Spacing::paper, BaseTurns{}), 8);
  }

  void add_fitted(const Line& line) {
    const auto h = static_cast<double>(count_);
    for (const Spacing spacing : all_spacings) {
      const double denominator = spacing == Spacing::paper ? h : std::max(h - 1, 1.0);
      const double base = std::exp(line.slope * denominator);
      for (int digits = 1; digits <= 6; ++digits) {
        add_scaled(rounded_to_digits(base, digits), spacing, denominator,
                   4 + bits_of_digit * digits, line);
      }
      add_scaled(base, spacing, denominator, bits_of_double, line);
      for (const double known : known_bases)
        if (std::fabs(std::log(known / base)) < 0.3)
          add_scaled(known, spacing, denominator, 2, line);
    }
    add_ntk(std::exp(line.slope * h));
  }

  /// The base, and what the positions are divided by for the frequencies to be those of the line.
  void add_scaled(double base, Spacing spacing, double denominator, double bits, const Line& line) {
    add(spec_of(base, spacing), bits);
    double sum = 0, weights = 0;
    for (const Point& each : points_) {
      if (std::fabs(each.log_frequency - line.intercept + line.slope * each.k) > 0.02) continue;
      const double weight = 1 / (each.uncertainty * each.uncertainty + 1e-20);
      sum -= weight * (each.k / denominator * std::log(base) + each.log_frequency);
      weights += weight;
    }
    const double scaling = weights > 0 ? std::exp(sum / weights) : 1;
    const double step = std::round(1 / scaling);
    if (step >= 2 && step < 1e6)
      add(spec_of(base, spacing), bits + 2 + std::log2(step), static_cast<std::int64_t>(step));
    if (std::fabs(scaling - 1) > 1e-6) {
      for (const double known : known_factors)
        if (std::fabs(scaling / known - 1) < 1e-3)
          add(spec_of(base, spacing, LinearScaling{known}), bits + 6);
      for (int digits = 1; digits <= 9; ++digits)
        add(spec_of(base, spacing, LinearScaling{rounded_to_digits(scaling, digits)}),
            bits + 4 + bits_of_digit * digits);
      add(spec_of(base, spacing, LinearScaling{scaling}), bits + bits_of_double);
    }
    if (spacing == Spacing::paper) add_blends(base, bits);
  }

  /// A known base, of which a factor makes the one that is found.
  void add_ntk(double found) {
    const double dimension = 2 * static_cast<double>(count_);
    for (const double base : known_bases) {
      const double scaling = std::pow(found / base, (dimension - 2) / dimension);
      const double even = std::round(2 * scaling) / 2;
      if (even > 1 && even <= 64)
        add(spec_of(base, Spacing::paper, NtkScaling{even}), 8 + std::log2(2 * even));
    }
  }

  /// Llama 3.1's rule and YaRN, whose factor is that of the lowest frequencies.
  void add_blends(double base, double bits) {
    const double scaling =
        std::exp(-points_.back().log_frequency -
                 points_.back().k * std::log(base) / static_cast<double>(count_));
    for (const double known : {2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0, 128.0})
      if (std::fabs(std::log(scaling / known)) < 0.7) add_blends_of(known, base, bits);
    const double even = std::round(2 * scaling) / 2;
    if (even > 1 && even <= 1024) add_blends_of(even, base, bits + 4);
  }
  void add_blends_of(double even, double base, double bits) {
    double more = bits + 4 + std::log2(even);
    for (const std::int64_t rows : known_trained_rows) {
      add(spec_of(base, Spacing::paper, Llama3Scaling{.factor = even, .trained_rows = rows}), more);
      for (const bool truncate : {true, false}) {
        YarnScaling yarn = {.factor = even, .trained_rows = rows, .truncate = truncate};
        if (std::fabs(factor_ - attention_factor(FrequencyRule(yarn))) > 0.01)
          yarn.attention_factor = 1;
        add(spec_of(base, Spacing::paper, yarn), more + (truncate ? 1 : 2));
      }
      more += 0.5;
    }
  }

  std::span<const FrequencyEstimate> estimates_;
  std::int64_t count_;
  double factor_;
  std::vector<Point> points_;
  std::vector<Convention> all_;
};

}  // namespace

std::vector<double> frequencies_of(const EncodingSpec& spec) {
  std::vector<double> all;
  if (is_base(spec.frequencies) || std::holds_alternative<LinearScaling>(spec.frequencies)) {
    const auto* const linear = std::get_if<LinearScaling>(&spec.frequencies);
    const double denominator = static_cast<double>(exponent_denominator(spec)),
                 factor = linear != nullptr ? linear->factor : 1;
    for (std::int64_t k = 0; k < spec.d_model / 2; ++k)
      all.push_back(std::pow(spec.base, -static_cast<double>(k) / denominator) / factor);
    return all;
  }
  if (const auto* const own = std::get_if<OwnFrequencies>(&spec.frequencies)) return own->values;
  const Frequencies exact(spec);
  for (std::int64_t k = 0; k < exact.count(); ++k) all.push_back(to_radians(exact[k]));
  return all;
}

std::vector<Convention> conventions_like(std::span<const FrequencyEstimate> estimates,
                                         std::int64_t count, double factor,
                                         const std::optional<EncodingSpec>& expected) {
  return Conventions(estimates, count, factor, expected).nearest();
}

}  // namespace posenc::suite
