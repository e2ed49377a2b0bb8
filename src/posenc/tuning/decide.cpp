#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/statistics.h"
#include "posenc/support/ties.h"
#include "posenc/tuning/internal/class_candidate.h"
#include "posenc/tuning/pick.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace posenc {
namespace {

constexpr ShapeClass all_classes[] = {ShapeClass::l1, ShapeClass::l2, ShapeClass::l3,
                                      ShapeClass::memory};

/// The pick of a class, and the candidates that tie with the fastest.
struct Choice {
  const ClassCandidate* picked = nullptr;
  std::vector<const ClassCandidate*> tied;
};

Choice choose(const std::vector<ClassCandidate>& all, double noise_floor) {
  std::vector<const ClassCandidate*> candidates;
  std::vector<TimedCandidate> timed;
  for (const ClassCandidate& each : all) {
    if (!each.may_be_picked) continue;
    candidates.push_back(&each);
    timed.push_back(each.timed());
  }
  Choice choice;
  if (candidates.empty()) return choice;
  const std::size_t fastest = fastest_of(timed);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const PairedRatio ratio = paired_ratio(timed[i].seconds, timed[fastest].seconds);
    if (i == fastest || is_tie(ratio, noise_floor)) choice.tied.push_back(candidates[i]);
  }
  choice.picked = candidates[by_preference(timed, fastest, noise_floor).front()];
  return choice;
}

double gfloats_per_second(const ClassCandidate& candidate) {
  double sum = 0;
  for (const PickMeasurement* each : candidate.measurements) {
    sum += std::log(gfloats_per_second(*each));
  }
  return std::exp(sum / static_cast<double>(candidate.measurements.size()));
}

ComparedCandidate compare(const ClassCandidate& candidate, const Choice& choice) {
  ComparedCandidate compared;
  compared.backend = candidate.any().backend;
  compared.isa = candidate.any().isa;
  compared.is_peer = candidate.any().is_peer;
  compared.within_budget = candidate.within_budget();
  for (const PickMeasurement* each : candidate.measurements) {
    compared.max_abs = worst(compared.max_abs, each->max_abs);
    compared.max_ulp = worst(compared.max_ulp, each->max_ulp);
    compared.error_bound = worst(compared.error_bound, each->error_bound);
    compared.keeps_its_bound = compared.keeps_its_bound && each->keeps_its_bound();
  }
  compared.compared =
      !candidate.seconds_per_entry.empty() && compared.within_budget && choice.picked != nullptr;
  if (!compared.compared) return compared;
  compared.gfloats_per_second = gfloats_per_second(candidate);
  for (const PickMeasurement* each : candidate.measurements) {
    compared.relative_iqr = std::max(compared.relative_iqr, relative_iqr(*each));
  }
  const PairedRatio ratio =
      paired_ratio(candidate.seconds_per_entry, choice.picked->seconds_per_entry);
  compared.ratio = ratio.ratio;
  compared.low = ratio.low;
  compared.high = ratio.high;
  compared.tied = choice.tied.size() > 1 && std::ranges::count(choice.tied, &candidate) > 0;
  return compared;
}

ClassDecision decide_class(ShapeClass shape, const std::vector<ClassCandidate>& candidates) {
  ClassDecision decision;
  decision.shape = shape;
  decision.noise_floor = noise_floor_of(candidates);
  const Choice choice = choose(candidates, decision.noise_floor);
  for (const ClassCandidate& each : candidates) {
    ComparedCandidate compared = compare(each, choice);
    if (&each == choice.picked) {
      decision.pick = std::move(compared);
      for (const PickMeasurement* one : each.measurements) decision.shapes.push_back(one->name);
    } else {
      decision.others.push_back(std::move(compared));
    }
  }
  std::ranges::stable_sort(decision.others, {}, [](const ComparedCandidate& each) {
    return std::pair(!each.compared, each.ratio);
  });
  return decision;
}

void mark(const ClassDecision& decision, std::vector<PickMeasurement>& measurements) {
  for (PickMeasurement& each : measurements) {
    if (each.shape != decision.shape) continue;
    const auto is_same = [&](const ComparedCandidate& candidate) {
      return candidate.full_name() == each.full_name();
    };
    each.picked = decision.pick && is_same(*decision.pick);
    const auto other = std::ranges::find_if(decision.others, is_same);
    each.tied = each.picked ? decision.pick->tied : other != decision.others.end() && other->tied;
  }
}

}  // namespace

void validate(const ErrorBudget& budget) {
  const bool is_ulp = budget.measure == ErrorBudget::Measure::ulp;
  check_positive(is_ulp ? "max_ulp" : "max_error", budget.most);
}

ErrorBudget default_budget(DataType type) noexcept { return {1.01 * half_ulp_of_one(type)}; }

std::string PickMeasurement::full_name() const {
  return format_text("{}:{}", backend, to_string(isa));
}

std::string ComparedCandidate::full_name() const {
  return format_text("{}:{}", backend, to_string(isa));
}

const ComparedCandidate* ClassDecision::next() const noexcept {
  const auto found = std::ranges::find_if(
      others, [](const ComparedCandidate& each) { return each.compared && !each.is_peer; });
  return found == others.end() ? nullptr : &*found;
}

bool is_within(const ErrorBudget& budget, const PickMeasurement& measured) noexcept {
  const double error =
      budget.measure == ErrorBudget::Measure::ulp ? measured.max_ulp : measured.error_bound;
  return measured.keeps_its_bound() && error <= budget.most;
}

double median_seconds(const PickMeasurement& timed) { return median(timed.seconds); }

double relative_iqr(const PickMeasurement& timed) { return relative_iqr(timed.seconds); }

double gfloats_per_second(const PickMeasurement& timed) {
  const double entries =
      static_cast<double>(timed.rows.count) * static_cast<double>(timed.spec.d_model);
  return entries / median(timed.seconds) / 1e9;
}

std::vector<ClassDecision> decide(std::vector<PickMeasurement>& measurements,
                                  const ErrorBudget& budget) {
  validate(budget);
  for (PickMeasurement& each : measurements) {
    each.within_budget = is_within(budget, each);
    each.picked = each.tied = false;
  }
  std::vector<ClassDecision> decisions;
  for (const ShapeClass shape : all_classes) {
    const std::vector<ClassCandidate> candidates = candidates_of(shape, measurements);
    if (candidates.empty()) continue;
    decisions.push_back(decide_class(shape, candidates));
    mark(decisions.back(), measurements);
  }
  return decisions;
}

}  // namespace posenc
