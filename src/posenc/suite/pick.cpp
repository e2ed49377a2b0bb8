#include "posenc/suite/pick.h"

#include "posenc/suite/measuring/ties.h"

#include <algorithm>
#include <utility>

namespace posenc::suite {
namespace {

bool may_be_picked(const JudgedCandidate& each) {
  return each.compared && each.candidate.role == Role::backend;
}

/// Places the candidates beside the one picked: by time, those not compared last.
void compare(Verdict& verdict, const Choice& choice) {
  std::vector<JudgedCandidate>& all = verdict.others;
  for (JudgedCandidate& each : all) {
    if (!each.compared) continue;
    const std::vector<double>& seconds = each.candidate.seconds_per_entry;
    const PairedRatio ratio = paired_ratio(seconds, choice.preferred->seconds_per_entry);
    each.ratio = ratio.ratio;
    each.low = ratio.low;
    each.high = ratio.high;
    each.tied =
        may_be_picked(each) && is_tie(paired_ratio(seconds, choice.fastest->seconds_per_entry),
                                      verdict.measured.noise_floor);
  }
  if (std::ranges::count(all, true, &JudgedCandidate::tied) == 1)  // the fastest with itself
    for (JudgedCandidate& each : all) each.tied = false;
  const auto picked = all.begin() + (choice.preferred - verdict.measured.candidates.data());
  verdict.pick = std::move(*picked);
  all.erase(picked);
}

Verdict verdict_of(MeasuredClass measured, const Accuracy& accuracy) {
  Verdict verdict = {std::move(measured), {}, {}};
  std::vector<const Candidate*> eligible;
  for (const Candidate& each : verdict.measured.candidates) {
    JudgedCandidate& judged = verdict.others.emplace_back();
    judged.candidate = each;
    judged.promises = each.keeps_promise && accuracy.is_kept_by(each.promise);
    judged.compared = judged.promises && !each.seconds_per_entry.empty();
    if (may_be_picked(judged)) eligible.push_back(&each);
  }
  if (!eligible.empty()) compare(verdict, choose(eligible, verdict.measured.noise_floor));
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
