#include "posenc/pick_decision.h"

#include "posenc/statistics.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace posenc {
namespace {

/// Medians closer than this are a tie whatever the samples say: smaller than what code placement alone moves.
constexpr double indistinguishable = 1.02;

/// The price that simplicity may have, at the far end of the confidence interval: where noise hides more than that,
/// being simpler is no reason to be picked over the fastest.
constexpr double acceptable = 1.1;

/// One backend over all shapes of a class.
struct Contender {
  std::vector<PickMeasurement*> measurements;
  std::vector<double> scores;  ///< per repetition: geometric mean over the shapes of seconds per entry
  bool may_win = false;        ///< within the budget, and timed, on every shape of the class

  const PickMeasurement& any() const { return *measurements.front(); }
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

/// Per repetition the geometric mean over shapes, for as many repetitions as every shape has.
template <class Value>
std::vector<double> by_repetition(const std::vector<PickMeasurement*>& measurements,
                                  std::vector<double> PickMeasurement::*samples, Value value) {
  std::size_t repetitions = std::numeric_limits<std::size_t>::max();
  for (const PickMeasurement* each : measurements) repetitions = std::min(repetitions, (each->*samples).size());
  std::vector<double> means;
  for (std::size_t r = 0; r < repetitions; ++r) {
    const auto of_one = [&](const PickMeasurement& each) { return value(each, (each.*samples)[r]); };
    means.push_back(geometric_mean(measurements, of_one));
  }
  return means;
}

/// Paired by repetition, where both met the same noise.
struct Slowdown {
  double ratio = 1;         ///< the median
  Interval interval{1, 1};  ///< of the median, 95 %

  /// A tie unless surely, and by more than the noise floor, slower.
  bool is_tie(double noise_floor) const {
    return ratio <= std::max(indistinguishable, 1 + noise_floor) || interval.low <= 1;
  }
  bool costs_little() const { return ratio <= indistinguishable || interval.high <= acceptable; }
};

Slowdown slowdown(const Contender& slower, const Contender& fastest) {
  if (&slower == &fastest) return {};
  std::vector<double> ratios;
  for (std::size_t r = 0; r < std::min(slower.scores.size(), fastest.scores.size()); ++r) {
    ratios.push_back(slower.scores[r] / fastest.scores[r]);
  }
  return {median(ratios), median_interval(ratios)};
}

/// Who is ahead of the one before in pairs: what both met in one repetition is no one's merit.
const Contender& fastest_of(const std::vector<const Contender*>& contenders) {
  const Contender* fastest = contenders.front();
  for (const Contender* each : contenders) {
    if (slowdown(*each, *fastest).ratio < 1) fastest = each;
  }
  return *fastest;
}

/// The far end of the interval of the A/A ratio, as a distance from 1.
double noise_floor(ShapeClass shape, std::vector<PickMeasurement>& measurements) {
  std::vector<PickMeasurement*> repeated;
  for (PickMeasurement& each : measurements) {
    if (each.shape == shape && !each.self_ratios.empty()) repeated.push_back(&each);
  }
  if (repeated.empty()) return 0;
  const auto ratio = [](const PickMeasurement&, double sample) { return sample; };
  return self_noise(by_repetition(repeated, &PickMeasurement::self_ratios, ratio));
}

/// Contenders of a class in order of registration.
std::vector<Contender> contenders_of(ShapeClass shape, std::vector<PickMeasurement>& measurements) {
  std::vector<Contender> all;
  for (PickMeasurement& each : measurements) {
    if (each.shape != shape) continue;
    const auto same = [&](const Contender& other) { return other.any().full_name() == each.full_name(); };
    const auto found = std::ranges::find_if(all, same);
    (found == all.end() ? all.emplace_back() : *found).measurements.push_back(&each);
  }
  std::size_t shapes = 0;  // of the class: results of several builds may lack some for a backend
  for (const Contender& each : all) shapes = std::max(shapes, each.measurements.size());
  for (Contender& each : all) {
    const auto runs = [](const PickMeasurement* one) { return one->within_budget && one->is_timed(); };
    each.may_win = each.measurements.size() == shapes && std::ranges::all_of(each.measurements, runs);
    if (!each.may_win) continue;
    const auto per_entry = [](const PickMeasurement& one, double seconds) { return seconds / entries(one); };
    each.scores = by_repetition(each.measurements, &PickMeasurement::seconds, per_entry);
  }
  return all;
}

/// Those that may win, the fastest among them, and who is tied with it.
struct Race {
  std::vector<const Contender*> running;
  std::vector<const Contender*> tied;
  const Contender* picked = nullptr;
};

/// Among the tied, the simplest method (the first registered) that costs little, and of that the fastest ISA.
Race run(const std::vector<Contender>& all, double noise) {
  Race race;
  for (const Contender& each : all) {
    if (each.may_win && !each.any().is_peer) race.running.push_back(&each);
  }
  if (race.running.empty()) return race;
  const Contender& fastest = fastest_of(race.running);
  for (const Contender* each : race.running) {
    const Slowdown slower = slowdown(*each, fastest);
    if (!slower.is_tie(noise)) continue;
    race.tied.push_back(each);
    if (race.picked == nullptr && slower.costs_little()) race.picked = each;
  }
  std::vector<const Contender*> same_method;
  for (const Contender* each : race.tied) {
    if (each->any().backend == race.picked->any().backend) same_method.push_back(each);
  }
  race.picked = &fastest_of(same_method);
  return race;
}

Rival rival_of(const Contender& contender, const Race& race) {
  Rival rival;
  rival.backend = contender.any().full_name();
  rival.is_peer = contender.any().is_peer;
  for (const PickMeasurement* each : contender.measurements) {
    rival.max_abs = worst(rival.max_abs, each->max_abs);
    rival.max_ulp = worst(rival.max_ulp, each->max_ulp);
    rival.error_bound = worst(rival.error_bound, each->error_bound);
    rival.keeps_its_bound = rival.keeps_its_bound && each->keeps_its_bound();
    rival.over_budget = rival.over_budget || !each->within_budget;
  }
  rival.compared = contender.may_win;
  if (!rival.compared) return rival;
  const Slowdown slower = slowdown(contender, *race.picked);
  rival.slowdown = slower.ratio;
  rival.least = slower.interval.low;
  rival.most = slower.interval.high;
  rival.tied = std::ranges::count(race.tied, &contender) > 0;
  return rival;
}

/// The fastest first, last what was not compared.
std::vector<Rival> rivals_of(const std::vector<Contender>& all, const Race& race) {
  std::vector<Rival> rivals;
  for (const Contender& each : all) {
    if (&each != race.picked) rivals.push_back(rival_of(each, race));
  }
  std::ranges::stable_sort(rivals, {}, [](const Rival& each) { return std::pair(!each.compared, each.slowdown); });
  return rivals;
}

ProfilePick describe(const Contender& picked, const std::vector<Rival>& rivals) {
  ProfilePick pick;
  pick.shape = picked.any().shape;
  pick.backend = picked.any().backend;
  pick.isa = picked.any().isa;
  for (const Rival& each : rivals) {
    if (each.tied) pick.ties.push_back(each.backend);
  }
  const auto next = std::ranges::find_if(rivals, [](const Rival& each) { return each.compared && !each.is_peer; });
  if (next != rivals.end()) {
    pick.next = next->backend;
    pick.margin = next->slowdown - 1;
  }
  pick.gfloats_per_second =
      geometric_mean(picked.measurements, [](const PickMeasurement& each) { return gfloats_per_second(each); });
  for (const PickMeasurement* each : picked.measurements) {
    pick.spread = std::max(pick.spread, spread(*each));
    pick.max_abs = std::max(pick.max_abs, each->max_abs);
    pick.max_ulp = std::max(pick.max_ulp, each->max_ulp);
    pick.shapes.emplace_back(each->preset);
  }
  return pick;
}

void mark(const Race& race) {
  for (const Contender* each : race.tied) {
    for (PickMeasurement* measured : each->measurements) measured->tied = race.tied.size() > 1;
  }
  for (PickMeasurement* measured : race.picked->measurements) measured->picked = true;
}

}  // namespace

void validate(const ErrorBudget& budget) {
  if (std::isfinite(budget.most) && budget.most > 0) return;
  throw InvalidArgument(format_text("{} is {}; allowed: finite and greater than 0",
                                    budget.measure == ErrorBudget::Measure::ulp ? "max_ulp" : "max_error",
                                    budget.most));
}

std::string PickMeasurement::full_name() const { return format_text("{}:{}", backend, to_string(isa)); }

double median_seconds(const PickMeasurement& timed) { return median(timed.seconds); }

double spread(const PickMeasurement& timed) { return relative_spread(timed.seconds); }

double gfloats_per_second(const PickMeasurement& timed) { return entries(timed) / median(timed.seconds) / 1e9; }

double self_noise(const std::vector<double>& self_ratios) {
  const Interval interval = median_interval(self_ratios);
  return std::max({interval.high - 1, 1 / interval.low - 1, 0.0});
}

bool is_within(const ErrorBudget& budget, const PickMeasurement& measured) noexcept {
  const double error = budget.measure == ErrorBudget::Measure::ulp ? measured.max_ulp : measured.error_bound;
  return measured.keeps_its_bound() && error <= budget.most;
}

std::vector<ShapeDecision> decide(std::vector<PickMeasurement>& measurements, const ErrorBudget& budget, DataType type,
                                  int threads) {
  validate(budget);
  for (PickMeasurement& each : measurements) {
    each.within_budget = is_within(budget, each);
    each.picked = each.tied = false;
  }
  std::vector<ShapeDecision> decisions;
  for (const ShapeClass shape : {ShapeClass::l1, ShapeClass::l2, ShapeClass::l3, ShapeClass::memory}) {
    const std::vector<Contender> all = contenders_of(shape, measurements);
    if (all.empty()) continue;
    const double noise = noise_floor(shape, measurements);
    const Race race = run(all, noise);
    ShapeDecision& decision = decisions.emplace_back(ShapeDecision{shape, {}, rivals_of(all, race)});
    if (race.picked == nullptr) continue;
    mark(race);
    ProfilePick pick = describe(*race.picked, decision.rivals);
    pick.type = type;
    pick.threads = threads;
    pick.noise_floor = noise;
    pick.budget = budget;
    decision.pick = std::move(pick);
  }
  return decisions;
}

std::vector<ProfilePick> picks_of(const std::vector<ShapeDecision>& decisions) {
  std::vector<ProfilePick> picks;
  for (const ShapeDecision& each : decisions) {
    if (each.pick) picks.push_back(*each.pick);
  }
  return picks;
}

}  // namespace posenc
