// Method. A pair (cosine, sine) of one frequency is a point on a circle. A column alone becomes a
// point, too. By least squares, x_(r-m) + x_(r+m) = 2 cos(m w) x_r gives the frequency w. The
// difference x_(r-m) - x_(r+m) is 2 sin(m w) times the other function. The angle between rows r and
// r + m is m w, known up to whole turns. So m = 1, 2, 4, ... are used in turn, and each angle
// refines the frequency. The angle of row 0 gives the first position.
#include "posenc/check/recover.h"

#include "posenc/check/columns.h"
#include "posenc/suite/statistics.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

namespace posenc::check {
inline namespace internals {

using namespace suite;
namespace {

constexpr double full_turn = 2 * std::numbers::pi;
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// The angle modulo a turn, from -pi to pi, within a few roundings of the angle.
double turned(double angle) noexcept {
  const double turns = angle * (1 / full_turn);
  if (!(std::fabs(turns) < 0x1p52)) return not_known;
  return angle - full_turn * static_cast<double>(
                                 static_cast<std::int64_t>(turns + (turns < 0 ? -0.5 : 0.5)));
}

/// The uncertainty of a point's angle, since its entries are rounded.
double angle_error_of(const SampledTable& sample) noexcept {
  return std::max(4 * sample.entry_error, 0x1p-23);
}

/// One frequency of a table, as a point on a circle for each row.
class Circle {
 public:
  Circle(const SampledTable& sample, Arrangement arrangement, std::int64_t k)
      : sample_(sample), angle_error_(angle_error_of(sample)) {
    const PairColumns pair = pair_columns(arrangement, sample.table.columns, k);
    for (const std::size_t i : {0, 1}) (pair.is_cosine[i] ? cosine_ : sine_) = pair.columns[i];
    if (!is_pair()) find_reach();
  }

  /// Cosine and sine, times the factor; NaN if a row that they come from is not set.
  std::complex<double> operator()(std::int64_t row) const noexcept {
    constexpr std::complex<double> not_set = {not_known, not_known};
    if (!is_set(row)) return not_set;
    if (is_pair()) return {sample_.table(row, cosine_), sample_.table(row, sine_)};
    if (reach_ == 0 || !is_set(row - reach_) || !is_set(row + reach_)) return not_set;
    const double other = (at(row + reach_) - at(row - reach_)) / (2 * sine_of_reach_);
    return cosine_ >= 0 ? std::complex(at(row), -other) : std::complex(other, at(row));
  }

  /// The uncertainty of an angle; infinity if the column shows none.
  double angle_error() const noexcept { return angle_error_; }
  /// The frequency, if the column was fitted alone; otherwise NaN.
  double frequency() const noexcept { return frequency_; }
  /// True if the amplitude is well known.
  bool shows_factor() const noexcept { return is_pair() || (reach_ > 0 && sine_of_reach_ > 0.5); }

 private:
  bool is_pair() const noexcept { return cosine_ >= 0 && sine_ >= 0; }
  bool is_set(std::int64_t row) const noexcept {
    if (row < 0 || row >= sample_.table.rows) return false;
    // All sines are zero at position 0, just as in a row that was never written.
    return sample_.is_set(row) || (row == 0 && cosine_ < 0);
  }
  /// The entry of a column that stands alone.
  double at(std::int64_t row) const noexcept {
    return sample_.table(row, std::max(cosine_, sine_));
  }

  /// Finds the smallest distance, a power of two rows, after which the wave has turned by about a
  /// radian.
  void find_reach() {
    const double rounding = angle_error_;
    angle_error_ = infinity;
    for (std::int64_t reach = 1; 2 * reach < sample_.table.rows; reach *= 2) {
      double products = 0, squares = 0;
      const std::int64_t count = sample_.table.rows - 2 * reach;
      for (const std::int64_t i : scattered(std::min<std::int64_t>(count, 4096), 64)) {
        const std::int64_t row = reach + i;
        if (!is_set(row) || !is_set(row - reach) || !is_set(row + reach)) continue;
        products += at(row) * (at(row - reach) + at(row + reach));
        squares += at(row) * at(row);
      }
      const double cosine = products / (2 * squares);
      if (!(squares > 0) || !(std::fabs(cosine) < 1)) continue;
      const double angle = std::acos(cosine);
      reach_ = reach;
      sine_of_reach_ = std::sin(angle);
      frequency_ = angle / static_cast<double>(reach);
      angle_error_ = 2 * rounding / sine_of_reach_;
      if (cosine < 0.6) return;  // at twice the distance, the number of turns might be uncertain
    }
  }

  const SampledTable& sample_;
  std::int64_t cosine_ = -1, sine_ = -1, reach_ = 0;
  double sine_of_reach_ = 1, frequency_ = not_known, angle_error_;
};

/// The first row from which four rows turn evenly in the fastest columns; 0 if the first 16 rows
/// have none. A padding row or a repeated position may stand before it.
std::int64_t even_start(const SampledTable& sample, Arrangement arrangement) {
  const std::int64_t count = frequencies_in(arrangement, sample.table.columns);
  constexpr std::int64_t last_start = 16, rows = 4, most_columns = 4;
  for (std::int64_t start = 0; start < std::min(last_start, sample.table.rows - rows); ++start) {
    std::int64_t even = 0;
    for (std::int64_t k = 0; k < std::min(count, most_columns); ++k) {
      const Circle circle(sample, arrangement, k);
      const auto turn = [&](std::int64_t row) {
        return std::arg(circle(row + 1) * std::conj(circle(row)));
      };
      const double first = turn(start), near = 8 * circle.angle_error();
      even += std::fabs(first) > near && std::fabs(turned(turn(start + 1) - first)) < near &&
              std::fabs(turned(turn(start + 2) - first)) < near;
    }
    if (2 * even > std::min(count, most_columns)) return start;
  }
  return 0;
}

/// Estimates frequency k from rows at doubling distances. Rows that are not set are skipped. The
/// estimate ends at the first row whose angle does not fit the nearer rows.
FrequencyEstimate estimate(const Circle& circle, std::int64_t k, std::int64_t rows,
                           std::int64_t start) {
  const auto is_known = [&](std::int64_t row) { return std::isfinite(std::abs(circle(row))); };
  FrequencyEstimate result = {.k = k, .frequency = not_known, .phase = not_known};
  if (!(circle.angle_error() < 0.3)) return result;
  const std::int64_t last_start = std::min<std::int64_t>(rows - 1, 4096);
  while (start < last_start && !(is_known(start) && is_known(start + 1))) ++start;
  if (!is_known(start)) return result;
  const std::complex<double> origin = std::conj(circle(start));
  const bool has_guess = std::isfinite(circle.frequency());
  double frequency = has_guess ? circle.frequency() : 0;
  constexpr double most_off = 1;  // radians; beyond, the number of turns is not certain
  for (std::int64_t distance = 1; start + distance < rows; distance *= 2) {
    if (!is_known(start + distance)) continue;
    const double expected = static_cast<double>(distance) * frequency;
    const double off = turned(std::arg(circle(start + distance) * origin) - expected);
    result.is_followed = distance > 1 && std::fabs(off) <= most_off;
    if ((has_guess || distance > 1) && std::fabs(off) > most_off) break;
    frequency = (expected + off) / static_cast<double>(distance);
    result.frequency = frequency;
    result.uncertainty = 2 * circle.angle_error() / static_cast<double>(distance);
  }
  if (start == 0 || std::isfinite(result.frequency))
    result.phase = turned(-std::arg(origin) - static_cast<double>(start) * frequency);
  return result;
}

}  // namespace

Recovered recover(const SampledTable& sample, Arrangement arrangement) {
  Recovered result;
  if (sample.holds_phases) {
    for (const std::int64_t k : sample.columns) {
      const double frequency = sample.table(0, k);
      result.each.push_back({k, std::isfinite(frequency) ? frequency : not_known,
                             2 * half_ulp_of_one(sample.type) * std::fabs(frequency), not_known});
    }
    return result;
  }
  const std::int64_t rows = sample.table.rows;
  const std::int64_t start = even_start(sample, arrangement);
  std::vector<double> sizes;
  std::int64_t backwards = 0, followed = 0;
  for (const std::int64_t k : scattered(frequencies_in(arrangement, sample.table.columns), 64)) {
    const Circle circle(sample, arrangement, k);
    for (const std::int64_t row : scattered(std::min<std::int64_t>(rows, 1000), 32)) {
      const double size = std::abs(circle(row));
      if (circle.shows_factor() && std::isfinite(size)) sizes.push_back(size);
    }
    const FrequencyEstimate& last = result.each.emplace_back(estimate(circle, k, rows, start));
    if (std::fabs(last.frequency) > last.uncertainty) backwards += last.frequency < 0 ? 1 : -1;
    followed += last.is_followed;
  }
  // Noise fits at twice the distance in 1 / pi of all cases. Four rows allow only one doubling.
  const double most_followed_of_noise = rows <= 4 ? 0.5 : 0.3, near = 0.05;
  result.turns_evenly = static_cast<double>(followed) >
                        most_followed_of_noise * static_cast<double>(result.each.size());
  result.factor = sizes.empty() ? 1 : median(sizes);
  const auto near_factor = std::ranges::count_if(
      sizes, [&](double size) { return std::fabs(size - result.factor) <= near * result.factor; });
  result.has_one_length = has_both_functions(arrangement) && 2 * near_factor > std::ssize(sizes);
  result.turns_backwards = backwards > 0;
  const double sense = result.turns_backwards ? -1 : 1;
  for (FrequencyEstimate& each : result.each) {
    each.frequency *= sense;
    each.phase *= sense;
  }
  return result;
}

bool shows_waves(const SampledTable& sample) {
  if (sample.holds_phases || sample.table.rows < 4) return true;
  for (const Arrangement arrangement :
       {Arrangement::interleaved, Arrangement::halves, Arrangement::cosines}) {
    const Recovered shown = recover(sample, arrangement);
    if (shown.turns_evenly || shown.has_one_length) return true;
  }
  return false;
}

FrequencyEstimate estimate_of(const SampledTable& sample, Arrangement arrangement, std::int64_t k) {
  return estimate(Circle(sample, arrangement, k), k, sample.table.rows,
                  even_start(sample, arrangement));
}

double quantum_of(const SampledTable& sample) {
  constexpr double steps[] = {1.0 / 127,   1.0 / 128,   1.0 / 255, 1.0 / 256, 1e-2,        1e-3,
                              1.0 / 32767, 1.0 / 32768, 1e-4,      1e-5,      1.0 / 65535, 1e-6};
  for (const double step : steps) {
    if (step < 8 * half_ulp_of_one(sample.type)) break;
    if (std::ranges::all_of(sample.got, [&](double each) {
          const double off = std::fabs(each - std::round(each / step) * step);
          return off <= 2 * half_ulp_of_one(sample.type) * std::max(std::fabs(each), step);
        }))
      return step;
  }
  return 0;
}

std::optional<std::int64_t> first_position(std::span<const FrequencyEstimate> estimates,
                                           std::span<const double> frequencies,
                                           const SampledTable& sample, std::int64_t usual) {
  std::vector<FrequencyEstimate> known;
  for (FrequencyEstimate each : estimates) {
    each.frequency = frequencies[static_cast<std::size_t>(each.k)];
    if (each.frequency > 0 && std::isfinite(each.phase) && known.size() < 32) known.push_back(each);
  }
  if (known.empty()) return {};
  std::ranges::sort(known, {}, &FrequencyEstimate::frequency);
  std::optional<std::int64_t> best;
  double least = infinity;
  /// True if no other position can be much better.
  const auto try_position = [&](double position) {
    constexpr double farthest = 0x1p31;
    const double moved = std::fabs(position - static_cast<double>(usual));
    if (moved != 0 && !(std::fabs(position) <= farthest)) return false;
    // Two to the power of the bits left open. A far position must agree far better.
    const double far = (1 + moved) * (1 + moved);
    double odds = far;
    for (const FrequencyEstimate& each : known) {
      odds *=
          1 + std::fabs(turned(each.phase - position * each.frequency)) / angle_error_of(sample);
      if (!(odds < least)) return false;
    }
    least = odds;
    best = static_cast<std::int64_t>(position);
    // Eight phases do not fit another position by chance.
    return odds < std::exp2(known.size()) * (known.size() >= 8 ? far : 1);
  };
  if (try_position(static_cast<double>(usual))) return best;
  // The slowest frequency gives the position up to whole turns. Turns up to 2^20 rows away are
  // tried in either direction, at least 100 and at most 2000 of them. Each faster frequency refines
  // the position.
  const double most_turns = std::clamp(0x1p20 * known.front().frequency / full_turn, 100.0, 2000.0);
  for (double turns = 0; turns<most_turns; turns = turns> 0 ? -turns : 1 - turns) {
    double position = (known.front().phase + full_turn * turns) / known.front().frequency;
    for (const FrequencyEstimate& each : known)
      position += turned(each.phase - position * each.frequency) / each.frequency;
    if (try_position(std::round(position))) break;
  }
  return best;
}

std::vector<std::int64_t> positions_of_rows(const SampledTable& sample,
                                            const TableIdentity& identity) {
  const std::vector<double> frequencies = frequencies_of(identity.spec);
  std::vector<FrequencyEstimate> phases;
  std::vector<Circle> circles;
  for (const std::int64_t k : scattered(identity.spec.d_model / 2, 24)) {
    phases.push_back({.k = k});
    circles.emplace_back(sample, identity.arrangement, k);
  }
  const double sign = identity.has_negated_sines ? -1 : 1;
  /// True if the first `most` phases of the row fit the position: their mean error is below 0.02
  /// radians. A phase of another position is that near by chance in 1 of 150 cases.
  const auto is_at = [&](std::int64_t row, std::int64_t position, std::size_t most) {
    const std::size_t count = std::min(most, phases.size());
    double off = 0;
    for (std::size_t i = 0; i < count; ++i) {
      phases[i].phase = sign * std::arg(circles[i](row));
      off += std::fabs(
          turned(phases[i].phase - static_cast<double>(position) *
                                       frequencies[static_cast<std::size_t>(phases[i].k)]));
    }
    return off < 0.02 * static_cast<double>(count);
  };
  std::vector<std::int64_t> all;
  // A search for a row that has no position takes as long as a search for some thousand others.
  // Therefore rows of noise end it.
  constexpr std::int64_t most_in_vain = 32;
  std::int64_t breaks = 0, in_vain = 0;
  for (std::int64_t row = 0; row < sample.table.rows; ++row) {
    const std::int64_t next = all.empty() ? identity.first : all.back() + identity.step;
    all.push_back(next);
    if (!sample.is_set(row) || is_at(row, next, 4)) continue;
    is_at(row, next, phases.size());  // reads all phases of the row
    const auto found = first_position(phases, frequencies, sample, next);
    if (found && is_at(row, *found, phases.size())) {
      all.back() = *found;
      ++breaks;
    } else if (++in_vain > most_in_vain + breaks / 64) {
      return {};
    }
  }
  return breaks == 0 ? std::vector<std::int64_t>() : all;
}

}  // namespace internals
}  // namespace posenc::check
