#include "posenc/suite/compare.h"

#include "posenc/suite/ties.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace posenc::suite {
namespace {

/// Smaller changes come from printing and reading a number. One entry changes the share far more.
constexpr double rounding = 1e-12;

/// Errors are deterministic. So any growth of max |error| or of the share of wrongly rounded
/// entries counts, unless the tolerance accepts it.
bool has_grown(const MeasuredError& before, const MeasuredError& after, double tolerance) {
  const auto size = [](double error) {
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  };
  const double wrong = 1 - before.correctly_rounded + rounding;
  return size(after.max_abs) > size(before.max_abs) * (1 + std::max(tolerance, rounding)) ||
         1 - after.correctly_rounded > wrong * (1 + tolerance);
}

/// How much slower the machine was in `after`: see common_factor().
double factor_of(const Measurements& before, const Measurements& after) {
  std::vector<double> of_limits, all;
  for (const Measurement& each : before.all) {
    const Measurement* const other = find_row(after, each);
    if (other == nullptr || !each.is_timed() || !other->is_timed()) continue;
    all.push_back(paired_ratio(other->seconds, each.seconds).ratio);
    if (each.role == Role::limit) of_limits.push_back(all.back());
  }
  return common_factor(of_limits, all);
}

/// One of the two may be null.
ComparedRow row_of(const Measurement* before, const Measurement* after, const Comparison& all,
                   double tolerance, std::size_t comparisons) {
  ComparedRow row = {before, after};
  if (before == nullptr || after == nullptr) {
    row.changes = {before == nullptr ? "only in B" : "only in A"};
    return row;
  }
  if (before->error && after->error) {
    row.is_regression = has_grown(*before->error, *after->error, tolerance);
    if (row.is_regression || has_grown(*after->error, *before->error, tolerance))
      row.changes.emplace_back(row.is_regression ? "error grew" : "error shrank");
  }
  if (!row.is_timed()) return row;
  row.time = paired_ratio(after->seconds, before->seconds, comparisons);
  for (double* const each : {&row.time.ratio, &row.time.low, &row.time.high}) *each /= all.factor;
  if (!is_tie(row.time, all.noise)) {
    row.changes.emplace_back(row.time.ratio > 1 ? "slower" : "faster");
    row.is_regression |= row.time.ratio > 1;
  }
  return row;
}

}  // namespace

bool ComparedRow::is_timed() const {
  return before != nullptr && after != nullptr && before->is_timed() && after->is_timed();
}

std::string ComparedRow::verdict() const { return changes.empty() ? "same" : join(changes, ", "); }

bool are_of_one_machine(const Measurements& one, const Measurements& other) {
  return one.machine.model == other.machine.model && one.machine.isas == other.machine.isas;
}

const Measurement* find_row(const Measurements& document, const Measurement& wanted) {
  const auto found = std::ranges::find_if(document.all, [&](const Measurement& each) {
    MeasuredTable table = each.table;
    table.name = wanted.table.name;
    return each.full_name() == wanted.full_name() && table == wanted.table;
  });
  return found == document.all.end() ? nullptr : &*found;
}

Comparison compare(const Measurements& before, const Measurements& after,
                   const CompareOptions& options) {
  Comparison result = {.noise = options.noise_of_session.value_or(
                           std::max(noise_floor_of(before), noise_floor_of(after))),
                       .factor = options.noise_of_session ? 1 : factor_of(before, after)};
  const std::size_t comparisons = options.noise_of_session ? before.all.size() : 1;
  const auto add = [&](const Measurement* a, const Measurement* b) {
    result.rows.push_back(row_of(a, b, result, options.tolerance, comparisons));
    result.common += a != nullptr && b != nullptr ? 1 : 0;
    result.missing += b == nullptr ? 1 : 0;
    result.regressions += result.rows.back().is_regression ? 1 : 0;
  };
  for (const Measurement& each : before.all)
    if (each.role == Role::backend) add(&each, find_row(after, each));
  for (const Measurement& each : after.all)
    if (each.role == Role::backend && find_row(before, each) == nullptr) add(nullptr, &each);
  return result;
}

BuildTimes time_builds(const BuildsRequest& request) {
  check_at_least_one("samples", request.samples);
  check_positive("seconds_per_sample", request.seconds_per_sample);
  if (request.rounds < 2) throw_invalid("rounds are {}; allowed: at least 2", request.rounds);
  BuildTimes result = {.before = request.rows, .after = request.rows};
  double timed = 0, lost = 0;
  const auto time = [&](const auto& by_build, const TimingRequest& asked) {
    const Timing timing = by_build(asked);
    timed += timing.timed_seconds;
    lost += timing.lost_seconds;
    return timing.seconds;
  };
  const auto add = [](Measurement& row, double one, double other) {
    row.seconds.push_back(std::sqrt(one * other));
    row.self_ratios.push_back(other / one);
  };
  const std::vector<Measurement>& rows = request.rows;
  for (int round = 0; round < request.rounds; ++round) {
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      TimingRequest asked = {.rows = {},
                             .samples = request.samples,
                             .seconds_per_sample = request.seconds_per_sample,
                             .seed = static_cast<std::uint64_t>(round)};
      for (; end < rows.size() && rows[end].table == rows[begin].table; ++end)
        asked.rows.push_back(rows[end]);
      if (request.progress) {
        const double tables = static_cast<double>(begin) / static_cast<double>(rows.size());
        request.progress((round + tables) / request.rounds,
                         format_text("timing {}", rows[begin].table.text()));
      }
      const auto first = time(request.time_before, asked), second = time(request.time_after, asked),
                 third = time(request.time_after, asked), fourth = time(request.time_before, asked);
      for (std::size_t i = begin; i < end; ++i) {
        add(result.before[i], first.at(i - begin), fourth.at(i - begin));
        add(result.after[i], second.at(i - begin), third.at(i - begin));
      }
    }
  }
  std::vector<std::vector<double>> self_ratios;
  for (const auto* const build : {&result.before, &result.after})
    for (const Measurement& each : *build) self_ratios.push_back(each.self_ratios);
  result.noise = session_floor_of(self_ratios);
  if (timed > 0) result.lost_share = lost / timed;
  return result;
}

}  // namespace posenc::suite
