#include "posenc/check/identify.h"

#include "posenc/check/columns.h"
#include "posenc/check/recover.h"
#include "posenc/check/ways.h"
#include "posenc/suite/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace posenc::check {
inline namespace internals {

using namespace suite;
namespace {

/// The cost of an arrangement in bits: the three layouts are cheapest, then other arrangements,
/// then the mistake.
double bits_of(Arrangement arrangement, const TableOptions& options) {
  if (std::ranges::count(options.arrangements, arrangement) > 0) return 0;
  if (arrangement == Arrangement::alternating) return 10;
  return 1 + std::log2(1 + static_cast<double>(arrangement));
}

class Identification {
 public:
  Identification(const SampledTable& sample, const TableOptions& options)
      : sample_(sample),
        options_(options),
        usual_first_(options.first.value_or(sample.holds_phases ? 1 : 0)) {}

  std::optional<Hypothesis> best() {
    if (auto irregular = of_irregular_positions()) return irregular;
    for (const Arrangement each : all_arrangements) {
      if (sample_.holds_phases && each != Arrangement::sines) continue;
      // If a hypothesis is right, no other explains more, and later arrangements cost more bits.
      const Hypothesis* const near = nearest();
      if (near != nullptr && near->bits <= bits_of(each, options_) && is_right(near->is)) break;
      try_arrangement(each);
    }
    const Hypothesis* const near = nearest();
    if (near == nullptr) return {};
    const double of_constants = bits_of_constants();
    if (is_right(near->is))
      return near->score() < of_constants ? std::optional(*near) : std::nullopt;
    // Choose among the kept hypotheses, each computed in the way that suits it best.
    constexpr std::size_t rows = 12;
    Hypothesis found;
    for (const auto& kept : kept_) {
      for (Hypothesis each : kept) {
        each.open = explain(sample_, each.is, rows).front().bits;
        if (each.score() < found.score()) found = std::move(each);
      }
    }
    find_positions(found);
    // Entries that are no sines leave more or fewer bits open than constants do by chance. The
    // logarithms of their distances have a standard deviation of 2.2 bits. The best of 10^4
    // candidates is within five standard deviations.
    const double of_chance = 5 * 2.2 * std::sqrt(std::size(sample_.got));
    if (!(found.score() + of_chance + bits_of_far_positions(found.is) < of_constants)) return {};
    found.explained = 1 - found.open / of_constants;
    // The nearest convention was seen to explain up to 0.08 of tables that are no encodings. It
    // explains 0.11 or more of encodings with noise of 0.05 in each entry.
    constexpr double least_explained = 0.1;
    if (found.explained < least_explained) return {};
    return found;
  }

 private:
  /// The kept hypothesis with the lowest score, with exact values; null if none is kept.
  const Hypothesis* nearest() const {
    const Hypothesis* best = nullptr;
    for (const auto& kept : kept_)
      if (!kept.empty() && (best == nullptr || kept.front().score() < best->score()))
        best = &kept.front();
    return best;
  }

  void try_arrangement(Arrangement arrangement) {
    const std::int64_t count = frequencies_in(arrangement, sample_.table.columns);
    if (count == 0 || 2 * count > max_d_model) return;
    const Recovered recovered = recover(sample_, arrangement);
    if (!(recovered.factor > 0)) return;
    const bool shows_frequencies = std::ranges::any_of(
        recovered.each,
        [](const FrequencyEstimate& each) { return std::isfinite(each.frequency); });
    const std::int64_t columns = sample_.table.columns;
    const bool is_odd = has_half_a_pair(arrangement, columns);
    std::optional<EncodingSpec> expected;
    if (options_.spec) expected = spec_for(*options_.spec, arrangement, columns);
    // For less likely conventions, a search of the position is not worth its time.
    std::size_t to_position = shows_frequencies ? 8 : max_d_model;
    for (Hypothesis& each : conventions_like(recovered, count, expected, is_odd ? columns : 0)) {
      each.is.arrangement = arrangement;
      if (is_odd) each.is.odd_width = columns;
      each.bits += bits_of(arrangement, options_);
      const std::vector<double> frequencies = frequencies_of(each.is.spec);
      std::optional<std::int64_t> first;
      if (to_position > 0) {
        first = first_position(recovered.each, frequencies, sample_, usual_first_);
        --to_position;
      }
      try_positions(each, recovered, frequencies, first);
    }
  }

  /// Tries the positions that a table with these frequencies may have.
  void try_positions(const Hypothesis& convention, const Recovered& recovered,
                     const std::vector<double>& frequencies, std::optional<std::int64_t> found) {
    const auto add = [&](std::int64_t first, std::int64_t step, bool is_negated,
                         std::vector<std::int64_t> positions = {}) {
      if (std::abs(first) > max_position - sample_.table.rows) return;
      Hypothesis what = convention;
      what.is.first = first;
      what.is.step = step;
      what.is.positions = std::move(positions);
      what.is.has_negated_sines = is_negated;
      what.bits += 2 * std::log2(1 + std::fabs(static_cast<double>(first - usual_first_))) +
                   (step < 0 ? 4 : 0) + (is_negated ? 6 : 0);
      try_factors(what, recovered.factor, frequencies);
    };
    if (!options_.positions.empty()) add(usual_first_, 1, false, options_.positions);
    const bool backwards = recovered.turns_backwards;
    const std::int64_t step = convention.is.step, span = (sample_.table.rows - 1) * step;
    add(usual_first_, step, backwards);
    if (!found) return;
    // Negated sines, read backwards, are sines at the positions first, first - 1, ...
    if (*found < 0) add(-*found, -step, false);
    if (!backwards || *found > -span || *found == 0) add(*found, step, backwards);
  }

  void try_factors(Hypothesis what, double fitted, const std::vector<double>& frequencies) {
    const double of_rule = options_.factor.value_or(attention_factor(what.is.spec.frequencies));
    const double bits = what.bits;
    const auto try_factor = [&](double factor, double of_factor) {
      what.is.factor = factor;
      what.bits = bits + of_factor;
      // Rounded phases differ more from exact ones than unusual conventions differ from usual ones.
      // Therefore hypotheses that cost few, more or many bits are kept apart.
      std::vector<Hypothesis>& kept = kept_[what.bits < most_known_bits   ? 0
                                            : what.bits < most_usual_bits ? 1
                                                                          : 2];
      const double limit = kept.size() < most_kept ? infinity : kept.back().score();
      what.open = open_bits_of(sample_, what.is, frequencies, limit - what.bits);
      if (what.score() >= limit) return;
      kept.insert(std::ranges::upper_bound(kept, what.score(), {}, &Hypothesis::score), what);
      if (kept.size() > most_kept) kept.pop_back();
    };
    try_factor(of_rule > 0 ? of_rule : 1, 0);
    if (of_rule != 1) try_factor(1, 4);
    // A factor whose first six digits are the same is no other factor.
    constexpr double least_change = 5e-7;
    if (std::fabs(fitted - of_rule) > least_change * std::fabs(of_rule) &&
        std::fabs(fitted - 1) > least_change)
      try_factor(fitted, 30);
  }

  /// True if no entry of the sample is off. Never true for 16-bit entries in a wider type:
  /// truncated entries would fit a smaller factor, too.
  bool is_right(const TableIdentity& identity) const {
    if (sample_.holds_phases || sample_.type != sample_.table.type) return false;
    const std::vector<double> frequencies = frequencies_of(identity.spec);
    bool is_right = true;
    for_each_entry(sample_, identity, sample_.rows.size(), [&](const SampledEntry& entry) {
      const double phase = entry.phase(frequencies);
      const double off = std::fabs(entry.got - entry.value_at(phase));
      is_right = off <= allowed_error(sample_.type, identity.factor, phase) +
                            sample_.noise_limit(entry.index);
      return is_right;
    });
    return is_right;
  }

  /// The number of listed positions that do not follow the one before.
  static std::size_t breaks_in(const TableIdentity& is) {
    std::size_t breaks = 0;
    for (std::size_t row = 1; row < is.positions.size(); ++row)
      breaks += is.positions[row] != is.positions[row - 1] + is.step;
    return breaks;
  }

  /// Recognises rows in any order, in a usual convention: all pairs have one length, but they do
  /// not turn evenly from row to row.
  std::optional<Hypothesis> of_irregular_positions() const {
    constexpr std::int64_t least_rows = 8;
    if (sample_.holds_phases || !options_.positions.empty() || options_.first ||
        sample_.table.rows < least_rows)
      return {};
    for (const Arrangement arrangement : all_arrangements) {
      const std::int64_t count = frequencies_in(arrangement, sample_.table.columns);
      if (!has_both_functions(arrangement) || count < 4) continue;
      const Recovered shown = recover(sample_, arrangement);
      if (shown.turns_evenly || !shown.has_one_length) continue;
      for (Hypothesis& each : conventions_like({}, count, options_.spec)) {
        each.is.arrangement = arrangement;
        if (!each.mistake.empty() || each.is.step != 1 || each.is.spec.d_model != 2 * count)
          continue;
        each.is.positions = positions_of_rows(sample_, each.is);
        if (4 * breaks_in(each.is) <= each.is.positions.size()) continue;
        each.open = explain(sample_, each.is, sample_.rows.size()).front().bits;
        each.explained = 1 - each.open / bits_of_constants();
        if (each.explained > 0.5) return each;
      }
    }
    return {};
  }

  /// Replaces the run of positions by a list if that takes fewer bits. Repeated positions look like
  /// a linear rule, so the base alone is tried, too.
  void find_positions(Hypothesis& found) const {
    found.open = explain(sample_, found.is, sample_.rows.size()).front().bits;
    if (!has_both_functions(found.is.arrangement) || !options_.positions.empty()) return;
    const TableIdentity run = found.is;
    for (const bool is_scaled : {false, true}) {
      TableIdentity other = run;
      if (!is_scaled) other.spec.frequencies = BaseFrequencies{};
      other.positions = positions_of_rows(sample_, other);
      const std::size_t breaks = breaks_in(other);
      if (breaks == 0) continue;
      constexpr double bits_of_break = 12;  // the place where a run begins
      const double bits = bits_of_break * static_cast<double>(breaks) +
                          explain(sample_, other, sample_.rows.size()).front().bits;
      if (bits >= found.open) continue;
      found.open = bits;
      found.is = std::move(other);
    }
  }

  /// Far positions have larger units of errors (see open_bits()), so that entries leave fewer bits
  /// open by chance. No bits if the positions are claimed.
  double bits_of_far_positions(const TableIdentity& is) const {
    if (options_.first || !options_.positions.empty()) return 0;
    const double farthest =
        std::max(std::fabs(static_cast<double>(is.position(0))),
                 std::fabs(static_cast<double>(is.position(sample_.table.rows - 1))));
    const double units = 0x1p-52 * (farthest + 1) / (2 * sample_.entry_error);
    return units > 1 ? static_cast<double>(sample_.got.size()) * std::log2(units) : 0;
  }

  /// The bits that columns leave open if each holds a constant or zeros.
  double bits_of_constants() const {
    double all = 0;
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      std::vector<double> column;
      for (std::size_t row = 0; row < sample_.rows.size(); ++row) {
        const double got = sample_.got[row * sample_.columns.size() + i];
        column.push_back(std::isfinite(got) ? got : 0);
      }
      const double middle = median(column);
      double of_zero = 0, of_constant = 24;
      for (const double each : column) {
        const double unit = 2 * sample_.entry_error;
        of_zero += std::log2(1 + std::fabs(each) / unit);
        of_constant += std::log2(1 + std::fabs(each - middle) / unit);
      }
      all += std::min(of_zero, of_constant);
    }
    return all;
  }

  static constexpr std::size_t most_kept = 8;
  static constexpr double most_known_bits = 8, most_usual_bits = 20;

  const SampledTable& sample_;
  const TableOptions& options_;
  const std::int64_t usual_first_;
  std::array<std::vector<Hypothesis>, 3> kept_;  ///< each in ascending order of scores
};

/// True if all rows are equal, as in a table of ones. Such rows show no frequencies.
bool are_rows_equal(const SampledTable& sample) {
  const auto columns = static_cast<std::ptrdiff_t>(sample.columns.size());
  return sample.rows.size() > 1 &&
         std::equal(sample.got.begin() + columns, sample.got.end(), sample.got.begin());
}

}  // namespace

std::optional<Hypothesis> identify(const SampledTable& sample, const TableOptions& options) {
  if (sample.rows.empty() || !shows_waves(sample)) return {};
  if (!options.spec && options.positions.empty() && are_rows_equal(sample)) return {};
  return Identification(sample, options).best();
}

}  // namespace internals
}  // namespace posenc::check
