#include "posenc/check/conventions.h"

#include "posenc/check/columns.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace posenc::check {
inline namespace internals {

using namespace suite;
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

/// Bases, the most usual first.
constexpr double known_bases[] = {1e4, 5e5, 1e6, 1.5e5, 1e7, 5e6, 256,
                                  100, 1e5, 2e6, 8e6,   1e3, 1e8, 1e4 / two_pi};

constexpr std::int64_t known_trained_rows[] = {8192,  4096,  32768,  2048,
                                               16384, 65536, 131072, 262144};

/// Factors by which positions are divided or multiplied, and which are not numbers of few digits.
constexpr double known_factors[] = {two_pi,          180 / std::numbers::pi, std::numbers::pi,
                                    std::numbers::e, std::numbers::sqrt2,    1e3};

/// A number, and its cost in bits: a number of few digits is cheap.
struct Said {
  double value, bits;
};

/// The number rounded to 1 .. most_digits digits, and the number itself.
std::vector<Said> said_in_digits(double value, int most_digits) {
  std::vector<Said> all;
  const double order = std::floor(std::log10(value));
  for (int digits = 1; digits <= most_digits; ++digits) {
    const double unit = std::pow(10.0, order - static_cast<double>(digits - 1));
    // Rounds to the double that the decimal number denotes: 0.1 is 1 / 10, not 1 * 0.1.
    const double rounded = unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                                    : std::round(value / unit) * unit;
    all.push_back({rounded, 4 + 3.3 * digits});
  }
  all.push_back({value, 53});
  return all;
}

/// An estimate of ln w_k, and its uncertainty.
struct Point {
  double k, log_frequency, uncertainty;
};

/// The line ln w_k = intercept - slope k.
struct Line {
  double slope, intercept;

  double off(const Point& each) const noexcept {
    return std::fabs(each.log_frequency - intercept + slope * each.k);
  }
};

/// Fits a line through most of the points, which are in the order of k. Some points are outliers,
/// because a frequency beyond half a turn per row looks like a slower one. A line of medians comes
/// first. Least squares then use the half of the points that is nearest to it.
Line line_through(std::span<const Point> points, std::optional<double> slope = {}) {
  const auto median_of = [](std::vector<double> all) {
    return all.empty() ? 0 : median(std::move(all));
  };
  std::vector<double> slopes, intercepts, offs;
  const std::size_t stride = 1 + points.size() / 48;
  for (std::size_t i = 0; !slope && i < points.size(); i += stride)
    for (std::size_t j = i + 1; j < points.size(); j += stride)
      slopes.push_back((points[i].log_frequency - points[j].log_frequency) /
                       (points[j].k - points[i].k));
  Line line = {slope ? *slope : median_of(std::move(slopes)), 0};
  for (const Point& each : points) intercepts.push_back(each.log_frequency + line.slope * each.k);
  line.intercept = median_of(std::move(intercepts));
  for (const Point& each : points) offs.push_back(line.off(each));
  const double near = median_of(std::move(offs));
  double s = 0, sk = 0, sy = 0, skk = 0, sky = 0;
  for (const Point& each : points) {
    if (line.off(each) > near) continue;
    const double weight = 1 / (each.uncertainty * each.uncertainty + 1e-14);
    s += weight, sk += weight * each.k, sy += weight * each.log_frequency;
    skk += weight * each.k * each.k, sky += weight * each.k * each.log_frequency;
  }
  const double determinant = s * skk - sk * sk;
  if (slope) return {*slope, (sy + *slope * sk) / s};
  if (!(determinant > 1e-9 * s * skk)) return line;
  return {-(s * sky - sk * sy) / determinant, (skk * sy - sk * sky) / determinant};
}

class Conventions {
 public:
  Conventions(const Recovered& recovered, std::int64_t count,
              const std::optional<EncodingSpec>& expected, std::int64_t odd_width)
      : recovered_(recovered), expected_(expected), count_(count), odd_width_(odd_width) {
    for (const FrequencyEstimate& each : recovered.each) {
      if (!(each.frequency > each.uncertainty)) continue;
      points_.push_back({static_cast<double>(each.k), std::log(each.frequency),
                         each.uncertainty / each.frequency});
    }
    std::ranges::sort(points_, {}, &Point::k);
    if (expected) add(*expected, 0);
    add_known();
    if (points_.empty()) return;
    add_fitted(line_through(points_));
    // A rule may slow down the last frequencies, but the first ones follow the base.
    const auto head = std::ranges::count_if(
        points_, [&](const Point& each) { return each.k <= 0.3 * points_.back().k; });
    add_fitted(line_through(std::span(points_).first(
        std::min(points_.size(), std::max<std::size_t>(4, static_cast<std::size_t>(head))))));
  }

  /// Returns the hypotheses that leave the fewest bits open. It always keeps the most usual ones,
  /// even if noisy rows speak against them.
  std::vector<Hypothesis> nearest() && {
    constexpr std::size_t most = 24;
    constexpr double usual = 6;
    if (points_.empty()) return std::move(all_);
    for (Hypothesis& each : all_) each.open = open_bits(each.is);
    std::erase_if(all_, [](const Hypothesis& each) { return each.open == infinity; });
    std::ranges::stable_sort(all_, {}, &Hypothesis::score);
    const auto rest = all_.begin() + std::min<std::ptrdiff_t>(most, std::ssize(all_));
    all_.erase(
        std::remove_if(rest, all_.end(), [](const Hypothesis& each) { return each.bits >= usual; }),
        all_.end());
    return std::move(all_);
  }

 private:
  /// True if the frequencies of the rule are those of its base, such as those of a rule for longer
  /// wavelengths than the table has. In double, such rules differ from the base by rounding alone.
  static bool changes_nothing(EncodingSpec spec, const std::vector<double>& frequencies) {
    spec.frequencies = BaseFrequencies{};
    std::int64_t k = 0;
    return std::ranges::all_of(frequencies, [&](double each) {
      return std::fabs(each / frequency_of(spec, k++) - 1) < 1e-14;
    });
  }

  /// The bits that the estimates leave open; infinity for a rule that changes nothing.
  double open_bits(const TableIdentity& is) const {
    const bool has_rule = !is_base(is.spec.frequencies) &&
                          !std::holds_alternative<LinearScaling>(is.spec.frequencies);
    std::vector<double> frequencies;
    if (has_rule) {
      frequencies = frequencies_of(is.spec);
      if (is.spec != expected_ && changes_nothing(is.spec, frequencies)) return infinity;
    }
    double bits = 0;
    for (const FrequencyEstimate& each : recovered_.each) {
      if (!std::isfinite(each.frequency)) continue;
      const double frequency =
          has_rule ? frequencies[static_cast<std::size_t>(each.k)] : frequency_of(is.spec, each.k);
      const double expected = static_cast<double>(is.step) * frequency;
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
      return;  // the spec was fitted to noise
    }
    for (const Hypothesis& each : all_)
      if (each.is.spec == spec && each.is.step == step) return;
    all_.push_back({{.spec = spec, .step = step}, bits, bits, std::move(mistake), intended});
  }

  EncodingSpec spec_of(double base, Spacing spacing, FrequencyRule rule = {}) const {
    EncodingSpec spec = {
        .d_model = 2 * count_, .base = base, .spacing = spacing, .frequencies = std::move(rule)};
    return odd_width_ > 0 ? of_odd_width(spec, odd_width_) : spec;
  }

  /// Adds the known bases. The more usual bases there are before a base, the more bits it costs.
  void add_known() {
    double known = 1;
    for (const double base : known_bases) {
      for (const Spacing spacing : all_spacings)
        add(spec_of(base, spacing), 2 * std::log2(known + (spacing == Spacing::paper ? 0 : 1)));
      // The frequencies of an even width, of which the last column was cut off.
      if (odd_width_ > 0) add({.d_model = 2 * count_, .base = base}, 2 * std::log2(known + 1));
      known += 2;
    }
    if (has_rules_)
      for (const double factor : {8.0, 32.0})  // Llama 3.1's and 3.2's
        add(spec_of(5e5, Spacing::paper, Llama3Scaling{.factor = factor}), factor == 8 ? 4 : 5);
    for (const Spacing spacing : all_spacings) {
      const EncodingSpec usual = spec_of(1e4, spacing);
      std::vector<double> reversed = frequencies_of(usual), growing = reversed;
      for (double& each : growing) each = 1 / each;
      std::ranges::reverse(reversed);
      add(spec_of(1e4, spacing, OwnFrequencies{growing}), 12, 1,
          "the minus of the exponent is missing: the frequencies are 1 .. 10000", usual);
      add(spec_of(1e4, spacing, OwnFrequencies{reversed}), 12, 1,
          "the frequencies are in reversed order", usual);
    }
    if (has_rules_) add(spec_of(1e4, Spacing::paper, BaseTurns{}), 8);
    for (const auto& [logarithm, of_e] : {std::pair("base-10", 4.0), {"base-2", std::log2(1e4)}})
      add(spec_of(std::exp(of_e), Spacing::paper), 12, 1,
          format_text("the {} logarithm of the base was used in place of the natural one: the "
                      "effective base is {}, not 10000",
                      logarithm, digits_text(std::exp(of_e), 6)),
          spec_of(1e4, Spacing::paper));
  }

  void add_fitted(const Line& line) {
    for (const Spacing spacing : all_spacings) {
      const auto denominator =
          static_cast<double>(exponent_denominator({.d_model = 2 * count_, .spacing = spacing}));
      const double even = std::exp(line.slope * denominator),
                   width = static_cast<double>(odd_width_),
                   fitted = odd_width_ > 0 && spacing == Spacing::paper
                                ? std::pow(even, width / (width + 1))
                                : even;
      std::vector<Said> bases = said_in_digits(fitted, 6);
      for (const double known : known_bases) bases.push_back({known, 2});
      for (std::size_t i = 0; i < bases.size(); ++i) {
        const Said& base = bases[i];
        if (std::ranges::find(bases, base.value, &Said::value) != bases.begin() + i) continue;
        // Two bases, one per spacing, give the same frequencies. The usual spacing is cheaper.
        add(spec_of(base.value, spacing), base.bits + (spacing == Spacing::paper ? 0 : 0.5));
        add_scaled(base, spacing, denominator);
        // The first frequencies follow the base, so the fitted base is near it.
        if (has_rules_ && spacing == Spacing::paper &&
            std::fabs(std::log(base.value / fitted)) < 1.4)
          add_blends(base);
      }
    }
    if (!has_rules_) return;
    // NTK scaling: a known base and the factor that turns it into the fitted base.
    const auto h = static_cast<double>(count_);
    for (const double base : known_bases) {
      const double scaling = std::pow(std::exp(line.slope * h) / base, (h - 1) / h),
                   even = std::round(2 * scaling) / 2;
      if (even > 1 && even <= 64)
        add(spec_of(base, Spacing::paper, NtkScaling{even}), 8 + std::log2(2 * even));
    }
  }

  /// Adds the steps and the linear factors that the positions may be scaled by.
  void add_scaled(const Said& base, Spacing spacing, double denominator) {
    const double scaling =
        std::exp(-line_through(points_, std::log(base.value) / denominator).intercept);
    const double step = std::round(1 / scaling);
    if (step >= 2 && step < 1e6) {
      add(spec_of(base.value, spacing), base.bits + 2 + std::log2(step),
          static_cast<std::int64_t>(step));
    }
    if (std::fabs(scaling - 1) < 1e-6) return;
    for (const double known : known_factors)
      for (const double factor : {known, 1 / known})
        add(spec_of(base.value, spacing, LinearScaling{factor}), base.bits + 6);
    for (const Said& each : said_in_digits(scaling, 9))
      add(spec_of(base.value, spacing, LinearScaling{each.value}), base.bits + each.bits);
  }

  /// Adds Llama 3.1's rule and YaRN. Their factor is estimated from the lowest frequency.
  void add_blends(const Said& base) {
    const double scaling =
        std::exp(-points_.back().log_frequency -
                 points_.back().k * std::log(base.value) / static_cast<double>(count_));
    std::vector<Said> factors = {{std::round(2 * scaling) / 2, 4}};
    for (const double known : {2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0, 128.0})
      if (std::fabs(std::log(scaling / known)) < 0.7) factors.push_back({known, 0});
    for (const Said& factor : factors) {
      if (factor.value <= 1 || factor.value > 1024) continue;
      double bits = base.bits + factor.bits + 4 + std::log2(factor.value);
      for (const std::int64_t rows : known_trained_rows) {
        add(spec_of(base.value, Spacing::paper,
                    Llama3Scaling{.factor = factor.value, .trained_rows = rows}),
            bits);
        for (const bool truncate : {true, false}) {
          YarnScaling yarn = {.factor = factor.value, .trained_rows = rows, .truncate = truncate};
          if (std::fabs(recovered_.factor - attention_factor(FrequencyRule(yarn))) > 0.01)
            yarn.attention_factor = 1;
          add(spec_of(base.value, Spacing::paper, yarn), bits + (truncate ? 1 : 2));
        }
        bits += 0.5;
      }
    }
  }

  const Recovered& recovered_;
  const std::optional<EncodingSpec>& expected_;
  std::int64_t count_, odd_width_;
  /// Whether rules of rotary embeddings are tried. Heads have at most 1024 frequencies.
  const bool has_rules_ = count_ <= 1024;
  std::vector<Point> points_;
  std::vector<Hypothesis> all_;
};

}  // namespace

std::vector<Hypothesis> conventions_like(const Recovered& recovered, std::int64_t count,
                                         const std::optional<EncodingSpec>& expected,
                                         std::int64_t odd_width) {
  return Conventions(recovered, count, expected, odd_width).nearest();
}

}  // namespace internals
}  // namespace posenc::check
