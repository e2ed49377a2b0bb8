#include "ratios.h"

#include "posenc/measuring/statistics.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace posenc::bench {
namespace {

using SecondsByName = std::map<std::string, double>;

SecondsByName median_seconds(const Results& results) {
  SecondsByName medians;
  for (const auto& [place, runs] : results) {
    std::vector<double> seconds;
    for (const Run& run : runs) {
      if (is_repetition(run) && error_of(run).empty()) seconds.push_back(seconds_of(run));
    }
    if (!seconds.empty()) medians[name_of(runs.front())] = median(seconds);
  }
  return medians;
}

std::optional<double> fastest(const std::vector<std::string>& names, const SecondsByName& medians) {
  std::optional<double> least;
  for (const std::string& name : names) {
    const auto found = medians.find(name);
    if (found != medians.end()) least = std::min(least.value_or(found->second), found->second);
  }
  return least;
}

/// The counter's aggregates are those that Google Benchmark computes of the benchmark's own.
void add_counter(Runs& runs, const std::string& counter,
                 const std::function<double(const Run&)>& value_of) {
  std::vector<double> values;
  for (Run& run : runs) {
    if (!is_repetition(run)) continue;
    values.push_back(value_of(run));
    run.counters[counter] = values.back();
  }
  for (Run& run : runs) {
    if (is_repetition(run)) continue;
    for (const auto& statistic : *runs.front().statistics) {
      if (statistic.name_ == run.aggregate_name) run.counters[counter] = statistic.compute_(values);
    }
  }
}

void add_ratio(Runs& runs, const Ratio& ratio, const SecondsByName& medians) {
  const std::optional<double> baseline = fastest(ratio.baselines, medians);
  if (!baseline) return;
  const bool is_baseline = std::ranges::count(ratio.baselines, name_of(runs.front())) > 0;
  add_counter(runs, ratio.counter, [&](const Run& run) {
    const double speed = is_baseline ? 1 : *baseline * ratio.work / seconds_of(run);
    return ratio.quantity == Quantity::speed ? speed : 1 / speed;
  });
}

}  // namespace

void add_ratios(Results& results, const RatiosByName& ratios) {
  const SecondsByName medians = median_seconds(results);
  for (auto& [place, runs] : results) {
    const std::string name = name_of(runs.front());
    if (!ratios.contains(name) || !medians.contains(name)) continue;
    for (const Ratio& ratio : ratios.at(name)) add_ratio(runs, ratio, medians);
  }
}

}  // namespace posenc::bench
