#include "groups.h"

#include "table.h"

#include "posenc/error.h"
#include "posenc/measuring/statistics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <set>
#include <utility>

namespace posenc::bench {
namespace {

struct Added {
  std::string name;
  Body body;
  std::vector<Ratio> ratios;
  Clock clock;

  /// The name that filters are matched with.
  std::string full_name() const { return clock == Clock::wall ? name + "/real_time" : name; }
};

using Group = std::vector<Added>;

struct Groups {
  std::vector<Group> all{1};
  std::map<std::string, std::size_t> group_of;  ///< by name
};

Groups& groups() {
  static Groups added;
  return added;
}

/// Hands results over group by group. Google Benchmark counts from 0 in each.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::span<Output* const> outputs) : outputs_(outputs) {}

  bool ReportContext(const Context& context) override {
    if (!std::exchange(has_begun_, true)) {
      for (Output* output : outputs_) output->begin(context);
    }
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      Runs& kept = results_[run.family_index];
      kept.push_back(run);
      kept.back().family_index += families_before_;
    }
  }

  void add_group(const RatiosByName& ratios) {
    if (results_.empty()) return;
    add_ratios(results_, ratios);
    for (Output* output : outputs_) output->add_group(results_);
    families_before_ += results_.rbegin()->first + 1;
    results_.clear();
  }

 private:
  std::span<Output* const> outputs_;
  bool has_begun_ = false;
  std::int64_t families_before_ = 0;
  Results results_;
};

/// Throws InvalidArgument if the filter is no regular expression.
std::function<bool(const std::string&)> matcher_of(const std::string& filter) try {
  if (filter.empty() || filter == "all") return [](const std::string&) { return true; };
  const bool is_negative = filter.front() == '-';
  const std::regex regex(filter.substr(is_negative ? 1 : 0), std::regex::extended);
  return [=](const std::string& name) { return std::regex_search(name, regex) != is_negative; };
} catch (const std::regex_error&) {
  throw InvalidArgument(fmt::format(
      "--benchmark_filter is '{}'; allowed: an extended regular expression, or '-' and one",
      filter));
}

/// What the filter takes, and the baselines of that.
std::set<std::string> selected_names(const std::vector<Group>& all, const std::string& filter) {
  const auto matches = matcher_of(filter);
  std::set<std::string> names;
  for (const Group& group : all) {
    for (const Added& each : group) {
      if (!matches(each.full_name())) continue;
      names.insert(each.name);
      for (const Ratio& ratio : each.ratios)
        names.insert(ratio.baselines.begin(), ratio.baselines.end());
    }
  }
  return names;
}

void register_one(const Added& added) {
  auto* const registered =
      benchmark::RegisterBenchmark(added.name.c_str(), [added](benchmark::State& state) {
        show_progress(added.name);
        added.body(state);
      });
  registered->ComputeStatistics(relative_iqr_name, relative_iqr, benchmark::kPercentage);
  if (added.clock == Clock::wall) registered->UseRealTime();
}

void run_group(const Group& group, const std::set<std::string>& selected, Collector& collector) {
  RatiosByName ratios;
  benchmark::ClearRegisteredBenchmarks();
  for (const Added& each : group) {
    if (!selected.contains(each.name)) continue;
    register_one(each);
    ratios[each.name] = each.ratios;
  }
  if (ratios.empty()) return;
  benchmark::RunSpecifiedBenchmarks(&collector, nullptr, ".");
  collector.add_group(ratios);
}

}  // namespace

void begin_group() {
  if (!groups().all.back().empty()) groups().all.emplace_back();
}

void add(const std::string& name, Body body, std::vector<Ratio> ratios, Clock clock) {
  std::size_t group = groups().all.size() - 1;
  for (const Ratio& ratio : ratios) {
    const auto found = groups().group_of.find(ratio.baselines.front());
    if (found != groups().group_of.end()) group = found->second;
  }
  if (!groups().group_of.emplace(name, group).second) return;
  groups().all[group].push_back({name, std::move(body), std::move(ratios), clock});
}

std::size_t longest_name() {
  std::size_t longest = 0;
  for (const auto& [name, group] : groups().group_of) longest = std::max(longest, name.size());
  return longest;
}

void show_progress(std::string_view name) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  if (!is_terminal) return;
  constexpr std::string_view clear_line = "\r\x1b[K";
  fmt::print(stderr, "{}{}{:.70}", clear_line, name.empty() ? "" : "timing ", name);
  std::fflush(stderr);
}

void run_groups(const std::string& filter, std::span<Output* const> outputs) {
  const std::vector<Group> all = std::exchange(groups(), {}).all;
  if (all.front().empty()) {
    throw InvalidArgument(
        "no benchmark is left by --backend, --isa and --dtype; allowed: a backend that writes the "
        "type");
  }
  const std::set<std::string> selected = selected_names(all, filter);
  if (selected.empty()) {
    throw InvalidArgument(
        fmt::format("--benchmark_filter is '{}'; allowed: a regular expression that is found in a "
                    "name, such as {}",
                    filter, all.front().front().name));
  }
  Collector collector(outputs);
  for (const Group& group : all) run_group(group, selected, collector);
  benchmark::ClearRegisteredBenchmarks();
}

}  // namespace posenc::bench
