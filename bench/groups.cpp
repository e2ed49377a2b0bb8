#include "groups.h"

#include "support.h"
#include "table_reporter.h"

#include "posenc/support/statistics.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

struct Added {
  std::string name;
  std::function<void(benchmark::State&)> body;
  Clock clock;
};

std::vector<std::vector<Added>>& groups() {
  static std::vector<std::vector<Added>> all(1);
  return all;
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

}  // namespace

void begin_group() {
  if (!groups().back().empty()) groups().emplace_back();
}

void add(const std::string& name, std::function<void(benchmark::State&)> body, Clock clock) {
  groups().back().push_back({name, std::move(body), clock});
}

std::size_t longest_name() {
  std::size_t longest = 0;
  for (const auto& group : groups()) {
    for (const Added& each : group) longest = std::max(longest, each.name.size());
  }
  return longest;
}

std::string_view any_name() {
  return groups().front().empty() ? std::string_view() : groups().front().front().name;
}

std::size_t run_groups(benchmark::BenchmarkReporter& display, benchmark::BenchmarkReporter* file) {
  std::ostringstream of_groups_without_match;
  std::ostream& errors = display.GetErrorStream();
  display.SetErrorStream(&of_groups_without_match);
  std::size_t matched = 0;
  for (const auto& group : groups()) {
    benchmark::ClearRegisteredBenchmarks();
    for (const Added& each : group) register_one(each);
    matched += benchmark::RunSpecifiedBenchmarks(&display, file);
  }
  benchmark::ClearRegisteredBenchmarks();
  groups().assign(1, {});
  display.SetErrorStream(&errors);
  return matched;
}

bool JoiningReporter::ReportContext(const Context& context) {
  if (has_begun_) return is_wanted_;
  has_begun_ = true;
  Context of_all = context;
  of_all.name_field_width = std::max(context.name_field_width, name_width_);
  is_wanted_ = joined_.ReportContext(of_all);
  return is_wanted_;
}

void JoiningReporter::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> joined = runs;
  for (Run& each : joined) {
    each.family_index += first_family_;
    next_family_ = std::max(next_family_, each.family_index + 1);
  }
  joined_.ReportRuns(joined);
}

void JoiningReporter::Finalize() { first_family_ = next_family_; }

void JoiningReporter::finish() {
  if (has_begun_) joined_.Finalize();
}

}  // namespace posenc::bench
