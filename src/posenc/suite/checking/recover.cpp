#include "posenc/suite/checking/recover.h"

#include "posenc/suite/checking/arrangement.h"
#include "posenc/suite/checking/ways.h"
#include "posenc/suite/measuring/statistics.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <utility>

namespace posenc::suite {
namespace {

constexpr double full_turn = 2 * std::numbers::pi;
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// Modulo a turn, from -pi to pi, within a few roundings of the angle.
double turned(double angle) noexcept {
  const double turns = angle * (1 / full_turn);
  if (!(std::fabs(turns) < 0x1p52)) return not_known;
  return angle - full_turn * static_cast<double>(
                                 static_cast<std::int64_t>(turns + (turns < 0 ? -0.5 : 0.5)));
}

/// One frequency of a table, as a point on a circle for each row.
class Circle {
 public:
  Circle(const TableView& table, const std::vector<bool>& is_unset, Arrangement arrangement,
         std::int64_t k)
      : table_(table), is_unset_(is_unset) {
    for (const std::int64_t column : columns_of(arrangement, table.columns, k))
      (content_of(arrangement, table.columns, column).is_cosine ? cosine_ : sine_) = column;
    if (!is_pair()) find_reach();
  }

  /// Cosine and sine, times the factor; NaN if the rows that it comes from are not set.
  std::complex<double> operator()(std::int64_t row) const noexcept {
    if (is_pair()) return is_set(row) ? std::complex(at(row, cosine_), at(row, sine_)) : not_set;
    if (reach_ == 0 || !is_set(row) || !is_set(row - reach_) || !is_set(row + reach_))
      return not_set;
    const std::int64_t column = std::max(cosine_, sine_);
    const double own = at(row, column),
                 other =
                     (at(row + reach_, column) - at(row - reach_, column)) / (2 * sine_of_reach_);
    return cosine_ >= 0 ? std::complex(own, -other) : std::complex(other, own);
  }

  /// What an angle is uncertain by; infinity if the column shows none.
  double angle_error() const noexcept { return angle_error_; }
  double first_guess() const noexcept { return frequency_; }
  /// True if the amplitude is well known.
  bool shows_factor() const noexcept { return is_pair() || (reach_ > 0 && sine_of_reach_ > 0.5); }

 private:
  static constexpr std::complex<double> not_set = {not_known, not_known};

  bool is_pair() const noexcept { return cosine_ >= 0 && sine_ >= 0; }
  bool is_set(std::int64_t row) const noexcept {
    if (row < 0 || row >= table_.rows) return false;
    // The sines of position 0 are zero, as in a row that was never written.
    return !is_unset_[static_cast<std::size_t>(row)] || (row == 0 && cosine_ < 0);
  }
  double at(std::int64_t row, std::int64_t column) const noexcept { return table_(row, column); }

  /// The least number of rows after which the wave has turned by about a radian.
  void find_reach() {
    const std::int64_t column = std::max(cosine_, sine_);
    const double rounding = 2 * half_ulp_of_one(table_.type);
    angle_error_ = std::numeric_limits<double>::infinity();
    for (std::int64_t reach = 1; 2 * reach < table_.rows; reach *= 2) {
      double products = 0, squares = 0;
      const std::int64_t count = table_.rows - 2 * reach;
      for (const std::int64_t i : scattered(std::min<std::int64_t>(count, 4096), 64)) {
        const std::int64_t row = reach + i;
        if (!is_set(row) || !is_set(row - reach) || !is_set(row + reach)) continue;
        products += at(row, column) * (at(row - reach, column) + at(row + reach, column));
        squares += at(row, column) * at(row, column);
      }
      if (!(squares > 0)) continue;
      const double cosine = products / (2 * squares);
      if (!(std::fabs(cosine) < 1)) continue;
      const double angle = std::acos(cosine);
      reach_ = reach;
      sine_of_reach_ = std::sin(angle);
      frequency_ = angle / static_cast<double>(reach);
      angle_error_ = 4 * rounding / sine_of_reach_;
      if (cosine < 0.6) return;  // twice as far, the turns may not be certain
    }
  }

  const TableView& table_;
  const std::vector<bool>& is_unset_;
  std::int64_t cosine_ = -1, sine_ = -1, reach_ = 0;
  double sine_of_reach_ = 1, frequency_ = not_known,
         angle_error_ = 4 * half_ulp_of_one(table_.type);
};

/// Rows that do not lie on the circle are passed over.
FrequencyEstimate estimate(const Circle& circle, std::int64_t k, std::int64_t rows, double factor) {
  const auto is_on_circle = [&](std::int64_t row) {
    return std::fabs(std::abs(circle(row)) / factor - 1) < 0.1;
  };
  FrequencyEstimate result = {.k = k, .frequency = not_known, .phase = not_known};
  constexpr double most_uncertain = 0.3;
  if (!(circle.angle_error() < most_uncertain)) return result;
  std::int64_t start = 0;
  const std::int64_t last_start = std::min<std::int64_t>(rows - 1, 4096);
  while (start < last_start && !(is_on_circle(start) && is_on_circle(start + 1))) ++start;
  if (!is_on_circle(start)) start = 0;
  while (start < last_start && !is_on_circle(start)) ++start;
  if (!is_on_circle(start)) return result;
  const std::complex<double> origin = std::conj(circle(start));
  const bool has_guess = std::isfinite(circle.first_guess());
  double frequency = has_guess ? circle.first_guess() : 0, uncertainty = not_known;
  constexpr double most_off = 1;  // radians; beyond, the number of turns is not certain
  for (std::int64_t distance = 1; start + distance < rows; distance *= 2) {
    if (!is_on_circle(start + distance)) continue;
    if (!has_guess && distance > 1 && std::isnan(uncertainty)) break;
    const double expected = static_cast<double>(distance) * frequency;
    const double off = turned(std::arg(circle(start + distance) * origin) - expected);
    if ((has_guess || distance > 1) && std::fabs(off) > most_off) break;
    frequency = (expected + off) / static_cast<double>(distance);
    uncertainty = 2 * circle.angle_error() / static_cast<double>(distance);
  }
  if (std::isfinite(uncertainty)) {
    result.frequency = frequency;
    result.uncertainty = uncertainty;
  }
  if (std::isfinite(uncertainty) || start == 0)
    result.phase = turned(-std::arg(origin) - static_cast<double>(start) * frequency);
  return result;
}

}  // namespace

Recovered recover(const TableView& table, const std::vector<bool>& is_unset,
                  Arrangement arrangement) {
  Recovered result;
  std::vector<Circle> circles;
  const std::vector<std::int64_t> ks = scattered(frequencies_in(arrangement, table.columns), 64);
  std::vector<double> sizes, maxima;
  for (const std::int64_t k : ks) {
    const Circle& circle = circles.emplace_back(table, is_unset, arrangement, k);
    if (!circle.shows_factor()) continue;
    for (const std::int64_t row : scattered(std::min<std::int64_t>(table.rows, 1000), 32)) {
      const double size = std::abs(circle(row));
      if (std::isfinite(size)) sizes.push_back(size);
    }
  }
  result.factor = sizes.empty() ? 1 : median(std::move(sizes));
  if (!(result.factor > 0)) return result;
  std::int64_t backwards = 0;
  for (std::size_t i = 0; i < ks.size(); ++i) {
    result.each.push_back(estimate(circles[i], ks[i], table.rows, result.factor));
    const FrequencyEstimate& last = result.each.back();
    if (std::fabs(last.frequency) > last.uncertainty) backwards += last.frequency < 0 ? 1 : -1;
  }
  result.turns_backwards = backwards > 0;
  if (result.turns_backwards) {
    for (FrequencyEstimate& each : result.each) {
      each.frequency = -each.frequency;
      each.phase = -each.phase;
    }
  }
  return result;
}

std::optional<std::int64_t> first_position(std::span<const FrequencyEstimate> estimates,
                                           std::span<const double> frequencies, double angle_error,
                                           std::int64_t usual) {
  struct Known {
    double frequency, phase;
  };
  std::vector<Known> known;
  for (const FrequencyEstimate& each : estimates) {
    const double frequency = frequencies[static_cast<std::size_t>(each.k)];
    if (frequency > 0 && std::isfinite(each.phase)) known.push_back({frequency, each.phase});
  }
  if (known.empty()) return {};
  constexpr std::size_t most_known = 32;
  known.resize(std::min(known.size(), most_known));
  std::ranges::sort(known, std::less(), &Known::frequency);
  // The slowest frequency has the position up to its turns, and each faster one refines it.
  constexpr double far = 0x1p20, farthest = 0x1p31;
  constexpr int most_turns = 4000;
  const double error = std::max(angle_error, 0x1p-23);
  const int turns_tried = static_cast<int>(
      std::clamp(far * known.front().frequency / std::numbers::pi, 200.0, double{most_turns}));
  std::optional<std::int64_t> best;
  double least = std::numeric_limits<double>::infinity();
  /// True if no other position can be much better.
  const auto try_position = [&](double position) {
    if (position != static_cast<double>(usual) && !(std::fabs(position) <= farthest)) return false;
    // Two to the number of bits; a far position has to agree far better.
    double odds = std::pow(1 + std::fabs(position - static_cast<double>(usual)), 2);
    for (const Known& each : known) {
      const double off = std::fabs(turned(each.phase - position * each.frequency));
      odds *= 1 + off / error;
      if (!(odds < least)) return false;
    }
    least = odds;
    best = static_cast<std::int64_t>(position);
    return odds < std::exp2(known.size());
  };
  if (try_position(static_cast<double>(usual))) return best;
  for (int i = 0; i < turns_tried; ++i) {
    const int turns = i % 2 == 1 ? (i + 1) / 2 : -i / 2;  // 0, 1, -1, 2, ...
    double position = (known.front().phase + full_turn * turns) / known.front().frequency;
    for (const Known& each : known)
      position += turned(each.phase - position * each.frequency) / each.frequency;
    if (try_position(std::round(position))) break;
  }
  return best;
}

std::vector<std::int64_t> positions_of_rows(const TableView& table,
                                            const std::vector<bool>& is_unset,
                                            const TableIdentity& identity) {
  const std::vector<double> frequencies = frequencies_of(identity.spec);
  std::vector<Circle> circles;
  std::vector<std::int64_t> ks = scattered(identity.spec.d_model / 2, 24);
  for (const std::int64_t k : ks) circles.emplace_back(table, is_unset, identity.arrangement, k);
  const double sign = identity.has_negated_sines ? -1 : 1;
  std::vector<FrequencyEstimate> phases;
  const auto read = [&](std::int64_t row, std::size_t count) {
    phases.resize(std::min(count, ks.size()));
    for (std::size_t i = 0; i < phases.size(); ++i)
      phases[i] = {.k = ks[i], .phase = sign * std::arg(circles[i](row))};
  };
  /// The mean distance of the phases, in radians.
  const auto is_at = [&](std::int64_t position) {
    double off = 0;
    for (const FrequencyEstimate& each : phases)
      off += std::fabs(turned(each.phase - static_cast<double>(position) *
                                               frequencies[static_cast<std::size_t>(each.k)]));
    constexpr double near = 0.02;
    return off < near * static_cast<double>(phases.size());
  };
  constexpr int most_breaks = 4096;
  const double angle_error = 4 * half_ulp_of_one(table.type);
  std::vector<std::int64_t> all;
  int breaks = 0;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    const std::int64_t next = all.empty() ? identity.first : all.back() + identity.step;
    all.push_back(next);
    if (is_unset[static_cast<std::size_t>(row)]) continue;
    read(row, 4);
    if (is_at(next)) continue;
    read(row, ks.size());
    const auto found = first_position(phases, frequencies, angle_error, next);
    if (!found || !is_at(*found)) continue;
    if (++breaks > most_breaks) return {};
    all.back() = *found;
  }
  return breaks == 0 ? std::vector<std::int64_t>{} : all;
}

}  // namespace posenc::suite
