#include "posenc/suite/pick.h"

#include "posenc/suite/measuring/ties.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace posenc::suite {
namespace {

Isa isa_of(const Candidate& candidate) {
  return candidate.isa.empty() ? Isa::scalar : parse_isa(candidate.isa);
}

bool may_be_picked(const JudgedCandidate& each) {
  return each.compared && each.candidate.role == Role::backend;
}

/// Places the candidates beside the one picked: by time, those not compared last.
void compare(Verdict& verdict, std::vector<JudgedCandidate>& all, std::size_t picked,
             std::size_t fastest) {
  const double floor = verdict.measured.noise_floor;
  std::size_t ties = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    JudgedCandidate& each = all[i];
    if (!each.compared) continue;
    const auto over = [&](std::size_t other) {
      return paired_ratio(each.candidate.seconds_per_entry, all[other].candidate.seconds_per_entry);
    };
    const PairedRatio ratio = over(picked);
    each.ratio = ratio.ratio;
    each.low = ratio.low;
    each.high = ratio.high;
    each.tied = may_be_picked(each) && (i == fastest || is_tie(over(fastest), floor));
    ties += each.tied ? 1 : 0;
  }
  for (JudgedCandidate& each : all) each.tied &= ties > 1;
  verdict.pick = std::move(all[picked]);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(picked));
}

Verdict verdict_of(MeasuredClass measured, const Accuracy& accuracy) {
  std::vector<JudgedCandidate> all;
  std::vector<TimedCandidate> timed;
  std::vector<std::size_t> places;  // among all, of those that may be picked
  for (const Candidate& each : measured.candidates) {
    JudgedCandidate& judged = all.emplace_back();
    judged.candidate = each;
    judged.promises = each.keeps_promise && accuracy.is_kept_by(each.promise);
    judged.compared = judged.promises && !each.seconds_per_entry.empty();
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!may_be_picked(all[i])) continue;
    const Candidate& each = all[i].candidate;
    timed.push_back({each.method, isa_of(each), each.seconds_per_entry});
    places.push_back(i);
  }
  Verdict verdict = {std::move(measured), {}, {}};
  if (!timed.empty()) {
    const std::size_t fastest = fastest_of(timed);
    const std::size_t picked = by_preference(timed, fastest, verdict.measured.noise_floor).front();
    compare(verdict, all, places[picked], places[fastest]);
  }
  verdict.others = std::move(all);
  std::ranges::stable_sort(verdict.others, {}, [](const JudgedCandidate& each) {
    return std::pair(!each.compared, each.ratio);
  });
  return verdict;
}

}  // namespace

const JudgedCandidate* Verdict::next() const noexcept {
  const auto found = std::ranges::find_if(others, may_be_picked);
  return found == others.end() ? nullptr : &*found;
}

std::vector<Verdict> pick(const Measurements& document, const Accuracy& accuracy) {
  std::vector<Verdict> verdicts;
  for (MeasuredClass& each : classes_of(document))
    verdicts.push_back(verdict_of(std::move(each), accuracy));
  return verdicts;
}

}  // namespace posenc::suite
