#include "posenc/suite/checking/identify.h"
#include "posenc/suite/measuring/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace posenc::suite {
namespace {

/// Bits to say that a table has that arrangement: three layouts, then others, then a mistake.
double bits_of(Arrangement arrangement, const CheckOptions& options) {
  if (std::ranges::count(options.arrangements, arrangement) > 0) return 0;
  if (arrangement == Arrangement::alternating) return 10;
  return 1 + std::log2(1 + static_cast<double>(arrangement));
}

struct Candidate {
  Identified what;
  double open = infinity;  ///< bits of the entries, with exact phases
  double all() const noexcept { return open + what.bits; }
};

class Identification {
 public:
  Identification(const SampledTable& sample, const CheckOptions& options)
      : sample_(sample), options_(options) {}

  std::optional<Identified> best() {
    for (const Arrangement each : all_arrangements) try_arrangement(each);
    if (best_.empty()) return {};
    const double of_constants = bits_of_constants();
    // Truncated entries of 16 bits are as near to right ones of a smaller factor.
    const bool may_truncate = sample_.type != sample_.table.type;
    if (!may_truncate && is_right(best_.front().what.identity)) {
      if (!(best_.front().all() < of_constants)) return {};
      return best_.front().what;
    }
    Identified found = nearest_by_ways().what;
    refine_factor(found.identity);
    const double open = find_positions(found);
    if (!(found.bits + open + bits_of_chance() < of_constants)) return {};
    found.explained = 1 - open / of_constants;
    return found;
  }

 private:
  void try_arrangement(Arrangement arrangement) {
    const std::int64_t count = frequencies_in(arrangement, sample_.table.columns);
    if (count == 0 || 2 * count > max_d_model) return;
    const Recovered recovered = recover(sample_, arrangement);
    if (!(recovered.factor > 0)) return;
    const bool shows_frequencies = std::ranges::any_of(
        recovered.each,
        [](const FrequencyEstimate& each) { return std::isfinite(each.frequency); });
    // The positions of less likely conventions are not worth their time.
    constexpr std::size_t most_positioned = 8;
    const std::vector<Convention> conventions =
        conventions_like(recovered.each, count, recovered.factor, expected_spec(count));
    for (const Convention& each : conventions) {
      const bool is_likely = !shows_frequencies || &each < &conventions[0] + most_positioned;
      const std::vector<double> frequencies = frequencies_of(each.spec);
      for (TableIdentity identity : positioned(recovered, each, frequencies, is_likely)) {
        identity.spec = each.spec;
        identity.arrangement = arrangement;
        Identified what = {identity, each, each.bits + bits_of(arrangement, options_)};
        what.bits += bits_of_positions(identity) + (identity.has_negated_sines ? 6 : 0);
        try_factors(what, recovered.factor, frequencies);
      }
    }
  }

  std::optional<EncodingSpec> expected_spec(std::int64_t count) const {
    if (!options_.spec) return {};
    EncodingSpec spec = *options_.spec;
    if (spec.d_model == 0) spec.d_model = 2 * count;
    if (spec.d_model != 2 * count) return {};
    return spec;
  }

  double bits_of_positions(const TableIdentity& identity) const {
    const std::int64_t usual = options_.first.value_or(0);
    return 2 * std::log2(1 + std::fabs(static_cast<double>(identity.first - usual))) +
           (identity.step < 0 ? 4 : 0);
  }

  /// The positions that a table with these frequencies may have.
  std::vector<TableIdentity> positioned(const Recovered& recovered, const Convention& convention,
                                        const std::vector<double>& frequencies,
                                        bool is_likely) const {
    std::vector<TableIdentity> all;
    const auto add = [&](std::int64_t first, std::int64_t step, bool is_negated) {
      if (first < -max_position + sample_.table.rows || first > max_position - sample_.table.rows)
        return;
      all.push_back({.first = first, .step = step, .has_negated_sines = is_negated});
    };
    if (!options_.positions.empty()) {
      add(0, 1, false);
      all.back().positions = options_.positions;
    }
    const bool backwards = recovered.turns_backwards;
    add(options_.first.value_or(0), convention.step, backwards);
    if (!is_likely) return all;
    const auto found =
        first_position(recovered.each, frequencies, sample_.type, options_.first.value_or(0));
    if (!found) return all;
    const std::int64_t first = *found, span = (sample_.table.rows - 1) * convention.step;
    // Read backwards, the positions of negated sines are those of sines: first, first - 1, ...
    if (first <= -span && first < 0) add(-first, -convention.step, false);
    if (!backwards || first > -span || first == 0) add(first, convention.step, backwards);
    return all;
  }

  void try_factors(const Identified& what, double fitted, const std::vector<double>& frequencies) {
    struct Factor {
      double value, bits;
    };
    const double of_rule =
        options_.factor.value_or(attention_factor(what.identity.spec.frequencies));
    std::vector<Factor> factors = {{of_rule > 0 ? of_rule : 1, 0}};
    if (of_rule != 1) factors.push_back({1, 4});
    factors.push_back({fitted, 30});
    for (const auto& [value, bits] : factors) {
      Candidate candidate = {what};
      candidate.what.identity.factor = value;
      candidate.what.bits += bits;
      const bool is_usual = candidate.what.bits < most_usual_bits;
      const double limit = std::max(limit_of(best_), is_usual ? limit_of(usual_) : 0);
      candidate.open =
          open_bits_of(sample_, candidate.what.identity, frequencies, limit - candidate.what.bits);
      if (is_usual) keep(usual_, candidate);
      keep(best_, candidate);
    }
  }

  static double limit_of(const std::vector<Candidate>& kept) {
    return kept.size() < most_kept ? infinity : kept.back().all();
  }
  static void keep(std::vector<Candidate>& kept, const Candidate& candidate) {
    if (candidate.all() >= limit_of(kept)) return;
    kept.insert(std::ranges::upper_bound(kept, candidate.all(), {}, &Candidate::all), candidate);
    if (kept.size() > most_kept) kept.pop_back();
  }

  /// True if the sample has no entry that is off.
  bool is_right(const TableIdentity& identity) const {
    const std::vector<double> frequencies = frequencies_of(identity.spec);
    bool is_right = true;
    for_each_entry(sample_, identity, sample_.rows.size(), [&](const SampledEntry& entry) {
      const double off = std::fabs(entry.got - entry.value_at(entry.phase(frequencies)));
      is_right = off <= allowed_error(sample_.type, identity.factor, entry.position);
      return is_right;
    });
    return is_right;
  }

  /// The best of those kept, if each is computed in the way that suits it best.
  Candidate nearest_by_ways() const {
    constexpr std::size_t rows = 16;
    double least = infinity;
    const Candidate* nearest = &best_.front();
    for (const std::vector<Candidate>* const kept : {&usual_, &best_}) {
      for (const Candidate& each : *kept) {
        const double bits =
            each.what.bits + open_bits_of_best_way(sample_, each.what.identity, rows);
        if (bits >= least) continue;
        least = bits;
        nearest = &each;
      }
    }
    return *nearest;
  }

  /// Positions that are not a run; repeated ones look like a linear rule. Returns the bits that are
  /// open then.
  double find_positions(Identified& found) const {
    double least = open_bits_of_best_way(sample_, found.identity, sample_.rows.size());
    if (!has_both_functions(found.identity.arrangement) || !options_.positions.empty())
      return least;
    for (const bool is_scaled : {false, true}) {
      TableIdentity other = found.identity;
      if (!is_scaled) other.spec.frequencies = BaseFrequencies{};
      other.positions = positions_of_rows(sample_, other);
      double bits = 0;  // of where the runs begin
      for (std::size_t row = 1; row < other.positions.size(); ++row)
        bits += other.positions[row] != other.positions[row - 1] + other.step ? 12 : 0;
      if (bits == 0) continue;
      bits += open_bits_of_best_way(sample_, other, sample_.rows.size());
      if (bits >= least) continue;
      least = bits;
      found.identity = std::move(other);
    }
    return least;
  }

  /// Entries that are no sines leave more or fewer bits open than constants do by chance: the
  /// logarithms of their distances differ by 2.2 bits, one standard deviation. The best of 10^4
  /// hypotheses is within five.
  double bits_of_chance() const { return 5 * 2.2 * std::sqrt(std::size(sample_.got)); }

  /// Of columns that hold a constant each, or zeros.
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
        const double unit = 2 * half_ulp_of_one(sample_.type);
        of_zero += std::log2(1 + std::fabs(each) / unit);
        of_constant += std::log2(1 + std::fabs(each - middle) / unit);
      }
      all += std::min(of_zero, of_constant);
    }
    return all;
  }

  /// Least squares of a factor that is none of the rule's.
  void refine_factor(TableIdentity& identity) const {
    if (identity.factor == 1 || identity.factor == attention_factor(identity.spec.frequencies) ||
        identity.factor == options_.factor)
      return;
    const std::vector<double> frequencies = frequencies_of(identity.spec);
    double along = 0, squares = 0;
    for_each_entry(sample_, identity, sample_.rows.size(), [&](const SampledEntry& entry) {
      const double value = entry.value_at(entry.phase(frequencies)) / identity.factor;
      if (std::fabs(entry.got / identity.factor - value) < 0.1) {
        along += entry.got * value;
        squares += value * value;
      }
      return true;
    });
    if (squares > 0) identity.factor = along / squares;
  }

  /// Rounded phases are off by more than unusual conventions are from usual ones, which are
  /// therefore kept apart.
  static constexpr std::size_t most_kept = 8;
  static constexpr double most_usual_bits = 20;

  const SampledTable& sample_;
  const CheckOptions& options_;
  std::vector<Candidate> best_, usual_;  ///< from the fewest bits on
};

}  // namespace

double allowed_error(DataType type, double factor, std::int64_t position) noexcept {
  const double ulp = 2 * half_ulp_of_one(type) * std::exp2(std::ceil(std::log2(factor)));
  return ulp + 16 * 0x1p-53 * factor * (std::fabs(static_cast<double>(position)) + 1);
}

std::optional<Identified> identify(const SampledTable& sample, const CheckOptions& options) {
  if (sample.rows.empty()) return {};
  return Identification(sample, options).best();
}

}  // namespace posenc::suite
