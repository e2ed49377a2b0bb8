#include "posenc/tuning/internal/pick_decision.h"

#include "posenc/support/format.h"
#include "posenc/support/statistics.h"
#include "posenc/support/ties.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <utility>

namespace posenc {
namespace {

constexpr ShapeClass all_classes[] = {ShapeClass::l1, ShapeClass::l2, ShapeClass::l3,
                                      ShapeClass::memory};

/// One backend over all shapes of a class.
struct Candidate {
  std::vector<PickMeasurement*> measurements;
  std::size_t method = 0;      ///< the place of its method among those of the class
  std::vector<double> scores;  ///< per process: geometric mean over the shapes of seconds per
                               ///< entry; empty if not timed
  bool may_win = false;        ///< within the budget, and timed, on every shape of the class

  const PickMeasurement& any() const { return *measurements.front(); }
  TimedCandidate timed() const { return {method, any().isa, scores}; }
};

double entries(const PickMeasurement& measured) {
  return static_cast<double>(measured.rows.count) * static_cast<double>(measured.spec.d_model);
}

template <class Value>
double geometric_mean(const std::vector<PickMeasurement*>& measurements, Value value) {
  double sum = 0;
  for (const PickMeasurement* each : measurements) sum += std::log(value(*each));
  return std::exp(sum / static_cast<double>(measurements.size()));
}

/// Per process the geometric mean over shapes, for as many processes as every shape has.
template <class Value>
std::vector<double> by_process(const std::vector<PickMeasurement*>& measurements,
                               std::vector<double> PickMeasurement::*medians, Value value) {
  std::size_t processes = std::numeric_limits<std::size_t>::max();
  for (const PickMeasurement* each : measurements)
    processes = std::min(processes, (each->*medians).size());
  std::vector<double> means;
  for (std::size_t p = 0; p < processes; ++p) {
    const auto of_one = [&](const PickMeasurement& each) {
      return value(each, (each.*medians)[p]);
    };
    means.push_back(geometric_mean(measurements, of_one));
  }
  return means;
}

/// Candidates of a class in order of registration.
std::vector<Candidate> candidates_of(ShapeClass shape, std::vector<PickMeasurement>& measurements) {
  std::vector<Candidate> all;
  for (PickMeasurement& each : measurements) {
    if (each.shape != shape) continue;
    const auto same = [&](const Candidate& other) {
      return other.any().full_name() == each.full_name();
    };
    const auto found = std::ranges::find_if(all, same);
    (found == all.end() ? all.emplace_back() : *found).measurements.push_back(&each);
  }
  std::size_t shapes = 0;  // of the class: results of several builds may lack some for a backend
  for (const Candidate& each : all) shapes = std::max(shapes, each.measurements.size());
  for (Candidate& each : all) {
    const auto same_method = [&](const Candidate& other) {
      return other.any().backend == each.any().backend;
    };
    each.method = static_cast<std::size_t>(std::ranges::find_if(all, same_method) - all.begin());
    const bool is_timed =
        each.measurements.size() == shapes &&
        std::ranges::all_of(each.measurements, [](const auto* one) { return one->is_timed(); });
    each.may_win = is_timed && std::ranges::all_of(each.measurements, [](const auto* one) {
                     return one->within_budget;
                   });
    if (!is_timed) continue;
    const auto per_entry = [](const PickMeasurement& one, double seconds) {
      return seconds / entries(one);
    };
    each.scores = by_process(each.measurements, &PickMeasurement::seconds, per_entry);
  }
  return all;
}

/// How much slower each process was for the other candidates, as a factor: their median. Pairs by
/// process cancel it, and it is no noise between them.
std::vector<double> common_factors(const Candidate& one, const std::vector<Candidate>& all) {
  std::vector<double> factors(one.scores.size(), 1.0);
  for (std::size_t p = 0; p < factors.size(); ++p) {
    std::vector<double> slower;
    for (const Candidate& other : all) {
      if (&other == &one || other.scores.size() != factors.size()) continue;
      slower.push_back(other.scores[p] / median(other.scores));
    }
    if (!slower.empty()) factors[p] = median(slower);
  }
  return factors;
}

/// A/A in every process, and between successive processes, of every backend that was timed twice.
double noise_floor(const std::vector<Candidate>& all) {
  std::vector<std::vector<double>> self_ratios;
  const auto ratio = [](const PickMeasurement&, double sample) { return sample; };
  for (const Candidate& each : all) {
    if (each.scores.empty() || each.any().self_ratios.empty()) continue;
    self_ratios.push_back(by_process(each.measurements, &PickMeasurement::self_ratios, ratio));
    std::vector<double> scores = each.scores;
    const std::vector<double> common = common_factors(each, all);
    for (std::size_t p = 0; p < scores.size(); ++p) scores[p] /= common[p];
    self_ratios.push_back(ratios_of_successive(scores));
  }
  return noise_floor_of(self_ratios);
}

/// Those that may win, who ties with the fastest of them, and which is picked.
struct Verdict {
  std::vector<const Candidate*> tied;
  const Candidate* picked = nullptr;
};

Verdict verdict_of(const std::vector<Candidate>& all, double noise) {
  std::vector<const Candidate*> running;
  std::vector<TimedCandidate> timed;
  for (const Candidate& each : all) {
    if (!each.may_win || each.any().is_peer) continue;
    running.push_back(&each);
    timed.push_back(each.timed());
  }
  Verdict verdict;
  if (running.empty()) return verdict;
  const std::size_t fastest = fastest_of(timed);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const PairedRatio ratio = paired_ratio(timed[i].seconds, timed[fastest].seconds);
    if (i == fastest || is_tie(ratio, noise)) verdict.tied.push_back(running[i]);
  }
  verdict.picked = running[by_preference(timed, fastest, noise).front()];
  return verdict;
}

ComparedCandidate rival_of(const Candidate& candidate, const Verdict& verdict) {
  ComparedCandidate rival;
  rival.backend = candidate.any().full_name();
  rival.is_peer = candidate.any().is_peer;
  for (const PickMeasurement* each : candidate.measurements) {
    rival.max_abs = worst(rival.max_abs, each->max_abs);
    rival.max_ulp = worst(rival.max_ulp, each->max_ulp);
    rival.error_bound = worst(rival.error_bound, each->error_bound);
    rival.keeps_its_bound = rival.keeps_its_bound && each->keeps_its_bound();
    rival.over_budget = rival.over_budget || !each->within_budget;
  }
  rival.compared = candidate.may_win && verdict.picked != nullptr;
  if (!rival.compared) return rival;
  const PairedRatio ratio = paired_ratio(candidate.scores, verdict.picked->scores);
  rival.ratio = ratio.ratio;
  rival.low = ratio.low;
  rival.high = ratio.high;
  rival.tied = std::ranges::count(verdict.tied, &candidate) > 0;
  return rival;
}

/// The fastest first, last what was not compared.
std::vector<ComparedCandidate> rivals_of(const std::vector<Candidate>& all,
                                         const Verdict& verdict) {
  std::vector<ComparedCandidate> rivals;
  for (const Candidate& each : all) {
    if (&each != verdict.picked) rivals.push_back(rival_of(each, verdict));
  }
  std::ranges::stable_sort(rivals, {}, [](const ComparedCandidate& each) {
    return std::pair(!each.compared, each.ratio);
  });
  return rivals;
}

ClassPick describe(const Candidate& picked, const std::vector<ComparedCandidate>& rivals) {
  ClassPick pick;
  pick.backend = picked.any().backend;
  pick.isa = picked.any().isa;
  for (const ComparedCandidate& each : rivals) {
    if (each.tied) pick.ties.push_back(each.backend);
  }
  const auto next = std::ranges::find_if(
      rivals, [](const ComparedCandidate& each) { return each.compared && !each.is_peer; });
  if (next != rivals.end()) pick.next = *next;
  pick.gfloats_per_second = geometric_mean(
      picked.measurements, [](const PickMeasurement& each) { return gfloats_per_second(each); });
  for (const PickMeasurement* each : picked.measurements) {
    pick.relative_iqr = std::max(pick.relative_iqr, relative_iqr(*each));
    pick.max_abs = std::max(pick.max_abs, each->max_abs);
    pick.max_ulp = std::max(pick.max_ulp, each->max_ulp);
    pick.shapes.emplace_back(each->name);
  }
  return pick;
}

void mark(const Verdict& verdict) {
  for (const Candidate* each : verdict.tied) {
    for (PickMeasurement* measured : each->measurements) measured->tied = verdict.tied.size() > 1;
  }
  for (PickMeasurement* measured : verdict.picked->measurements) measured->picked = true;
}

MeasuredBackend measured_backend(const Candidate& candidate) {
  MeasuredBackend measured = {.backend = candidate.any().backend,
                              .isa = candidate.any().isa,
                              .seconds_per_entry = candidate.scores};
  for (const PickMeasurement* each : candidate.measurements) {
    measured.max_abs = worst(measured.max_abs, each->max_abs);
    measured.max_ulp = worst(measured.max_ulp, each->max_ulp);
    measured.error_bound = worst(measured.error_bound, each->error_bound);
  }
  return measured;
}

/// UTC, as ISO 8601 has it.
std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[sizeof "2017-06-12T17:57:34Z"];
  std::strftime(text, sizeof text, "%FT%TZ", &parts);
  return text;
}

}  // namespace

void validate(const ErrorBudget& budget) {
  if (std::isfinite(budget.most) && budget.most > 0) return;
  throw InvalidArgument(format_text(
      "{} is {}; allowed: finite and greater than 0",
      budget.measure == ErrorBudget::Measure::ulp ? "max_ulp" : "max_error", budget.most));
}

ErrorBudget default_budget(DataType type) noexcept { return {1.01 * half_ulp_of_one(type)}; }

std::string ClassPick::full_name() const { return format_text("{}:{}", backend, to_string(isa)); }

std::string PickMeasurement::full_name() const {
  return format_text("{}:{}", backend, to_string(isa));
}

double median_seconds(const PickMeasurement& timed) { return median(timed.seconds); }

double relative_iqr(const PickMeasurement& timed) { return relative_iqr(timed.seconds); }

double gfloats_per_second(const PickMeasurement& timed) {
  return entries(timed) / median(timed.seconds) / 1e9;
}

bool is_within(const ErrorBudget& budget, const PickMeasurement& measured) noexcept {
  const double error =
      budget.measure == ErrorBudget::Measure::ulp ? measured.max_ulp : measured.error_bound;
  return measured.keeps_its_bound() && error <= budget.most;
}

std::vector<ShapeDecision> decide(std::vector<PickMeasurement>& measurements,
                                  const ErrorBudget& budget) {
  validate(budget);
  for (PickMeasurement& each : measurements) {
    each.within_budget = is_within(budget, each);
    each.picked = each.tied = false;
  }
  std::vector<ShapeDecision> decisions;
  for (const ShapeClass shape : all_classes) {
    const std::vector<Candidate> all = candidates_of(shape, measurements);
    if (all.empty()) continue;
    const double noise = noise_floor(all);
    const Verdict verdict = verdict_of(all, noise);
    ShapeDecision& decision =
        decisions.emplace_back(ShapeDecision{shape, noise, {}, rivals_of(all, verdict)});
    if (verdict.picked == nullptr) continue;
    mark(verdict);
    decision.pick = describe(*verdict.picked, decision.rivals);
  }
  return decisions;
}

std::vector<MeasuredClass> measured_classes(const std::vector<PickMeasurement>& measurements,
                                            const std::vector<ShapeDecision>& decisions,
                                            DataType type, int threads) {
  std::vector<PickMeasurement> copies = measurements;
  std::vector<MeasuredClass> classes;
  for (const ShapeDecision& decision : decisions) {
    MeasuredClass measured;
    measured.shape = decision.shape;
    measured.type = type;
    measured.threads = threads;
    measured.measured_at = now();
    measured.noise_floor = decision.noise_floor;
    for (const Candidate& each : candidates_of(decision.shape, copies)) {
      if (each.scores.empty() || each.any().is_peer) continue;
      if (measured.backends.empty()) {
        for (const PickMeasurement* one : each.measurements) measured.shapes.push_back(one->name);
      }
      measured.backends.push_back(measured_backend(each));
    }
    if (!measured.backends.empty()) classes.push_back(std::move(measured));
  }
  return classes;
}

}  // namespace posenc
