// How many processes a pick times, with how many samples, and when it reports noise. The tests make
// the times up.
#include "posenc/tuning/pick.h"

#include "quick_pick.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace posenc {
namespace {

using test::quick;
using test::small;
using testing::AllOf;
using testing::HasSubstr;

double rotation_first(std::size_t process, const std::string& backend) {
  const double noise = 1 + 0.001 * static_cast<double>(process % 3);
  return noise * (backend.starts_with("rotation:") ? 1e-6 : 3e-6);
}

/// Replaces the timing processes of a pick by made-up times for each process and candidate.
class MadeUpProcesses {
 public:
  std::vector<TimingRequest> requests;
  std::function<double(std::size_t process, const std::string& backend)> seconds = rotation_first;
  double noise = 0;  ///< relative difference between two timings of the same backend
  double lost_share = 0;

  PickOptions options() {
    PickOptions made = quick({small});
    made.time_in_process = [this](const TimingRequest& request) {
      const std::size_t process = requests.size();
      requests.push_back(request);
      TimingResult result = {.tables = {}, .timed_seconds = 1, .lost_seconds = lost_share};
      for (const TimingRequest::Table& table : request.tables) {
        TimingResult::Table& timed = result.tables.emplace_back();
        for (const auto& each : table.candidates) {
          const bool is_slow = each.stores == StorePolicy::non_temporal;
          timed.seconds.push_back((is_slow ? 2 : 1) * seconds(process, each.backend));
        }
        timed.repeated_seconds = timed.seconds[table.repeated] * (1 + noise);
      }
      return result;
    };
    return made;
  }
};

TEST(PickProcesses, EachTimesEveryCandidateInItsOwnOrder) {
  MadeUpProcesses processes;
  const PickResult result = pick(processes.options());
  EXPECT_EQ(result.processes, 3);
  ASSERT_EQ(processes.requests.size(), 3U);
  std::set<std::uint64_t> seeds;
  for (const TimingRequest& each : processes.requests) {
    seeds.insert(each.seed);
    ASSERT_EQ(each.tables.size(), 1U);
    EXPECT_EQ(each.tables.front().candidates.size(), result.measurements.size());
    for (const auto& candidate : each.tables.front().candidates) EXPECT_EQ(candidate.samples, 2);
  }
  EXPECT_EQ(seeds.size(), 3U);
  EXPECT_EQ(result.disturbed, "");
  EXPECT_EQ(result.decisions.front().pick.value().backend, "rotation");
}

TEST(PickProcesses, ComparesStoresIfItIsAskedTo) {
  MadeUpProcesses processes;
  PickOptions options = processes.options();
  options.store_sizes = {4096, 1 << 20};
  const PickResult result = pick(options);
  ASSERT_EQ(processes.requests.size(), 3U);
  for (const TimingRequest& each : processes.requests) {
    ASSERT_EQ(each.tables.size(), 1U + 2 * 2);  // sizes and methods
    EXPECT_EQ(each.tables.back().rows.count * each.tables.back().spec.d_model * 4, 1 << 20);
    EXPECT_EQ(each.tables.back().candidates.size(), 2U);
  }
  ASSERT_EQ(result.stores.size(), 4U);
  for (const MeasuredStores& each : result.stores) {
    EXPECT_EQ(each.cached.size(), 3U);
    EXPECT_DOUBLE_EQ(each.non_temporal[0] / each.cached[0], 2);
  }
  EXPECT_EQ(result.profile.most_cached_bytes(), 1 << 20);
  options.store_sizes = {100};
  EXPECT_EQ(test::refusal([&] { pick(options); }),
            "store_sizes has 100; allowed: 4096 to 1073741824");
  options.store_sizes = {4096};
  options.threads = 2;
  EXPECT_EQ(test::refusal([&] { pick(options); }),
            "store_sizes has 1 sizes; allowed with float32 and threads 2: none");
}

TEST(PickProcesses, OneDisturbedProcessDecidesNothing) {
  MadeUpProcesses processes;
  // In the first process, the fastest backend takes a hundred times as long.
  processes.seconds = [](std::size_t process, const std::string& backend) {
    const double first = process == 0 && backend.starts_with("rotation:") ? 100 : 1;
    return first * rotation_first(process, backend);
  };
  PickOptions options = processes.options();
  options.processes = 5;
  options.samples = 9;
  const PickResult result = pick(options);
  for (const TimingRequest& each : processes.requests) {
    for (const auto& candidate : each.tables.front().candidates) {
      if (candidate.backend.starts_with("rotation:")) {
        EXPECT_EQ(candidate.samples, 9);
      }
    }
  }
  // If the decision is uncertain, it is a tie that includes the fastest backend.
  const ClassDecision& decision = result.decisions.front();
  const bool is_named = decision.pick.value().backend == "rotation" ||
                        std::ranges::any_of(decision.others, [](const ComparedCandidate& each) {
                          return each.backend == "rotation" && each.tied;
                        });
  EXPECT_TRUE(is_named) << decision.pick->backend;
}

TEST(PickProcesses, CandidatesSlowInThreeProcessesGetFewerSamples) {
  MadeUpProcesses processes;
  PickOptions options = processes.options();
  options.processes = 5;
  options.samples = 9;
  pick(options);
  ASSERT_EQ(processes.requests.size(), 5U);
  for (std::size_t process = 0; process < 5; ++process) {
    for (const auto& each : processes.requests[process].tables.front().candidates) {
      const bool is_slow = !each.backend.starts_with("rotation:");
      EXPECT_EQ(each.samples, is_slow && process >= 3 ? 3 : 9)
          << each.backend << ", process " << process;
    }
  }
}

TEST(PickProcesses, NoiseAddsProcessesAndIsReported) {
  MadeUpProcesses processes;
  processes.noise = 0.05;
  PickResult result = pick(processes.options());
  EXPECT_EQ(result.processes, 6);
  EXPECT_EQ(result.disturbed, "");
  EXPECT_NEAR(result.decisions.front().noise_floor, 0.05, 1e-6);

  processes.noise = 0.3;
  result = pick(processes.options());
  EXPECT_THAT(result.disturbed, AllOf(HasSubstr("other work runs"), HasSubstr("30 %")));
}

TEST(PickProcesses, VariationBetweenProcessesIsNoise) {
  MadeUpProcesses processes;
  // There is no noise within a process, but rotation takes 25 % longer in every second process.
  processes.seconds = [](std::size_t process, const std::string& backend) {
    const bool is_slow = process % 2 == 1 && backend.starts_with("rotation:");
    return (is_slow ? 1.25 : 1.0) * rotation_first(0, backend);
  };
  const PickResult result = pick(processes.options());
  EXPECT_NEAR(result.decisions.front().noise_floor, 0.25, 1e-6);
  EXPECT_THAT(result.disturbed, HasSubstr("25 %"));
}

TEST(PickProcesses, ASlowdownCommonToAProcessIsNotNoise) {
  MadeUpProcesses processes;
  processes.seconds = [](std::size_t process, const std::string& backend) {
    return (process % 2 == 1 ? 1.6 : 1.0) * rotation_first(0, backend);
  };
  const PickResult result = pick(processes.options());
  EXPECT_NEAR(result.decisions.front().noise_floor, 0, 1e-6);
  EXPECT_EQ(result.decisions.front().pick.value().backend, "rotation");
  EXPECT_EQ(result.disturbed, "");
}

TEST(PickProcesses, LostProcessorTimeIsReported) {
  MadeUpProcesses processes;
  processes.lost_share = 0.33;
  EXPECT_THAT(pick(processes.options()).disturbed,
              AllOf(HasSubstr("other work runs"), HasSubstr("33 %")));
  processes.lost_share = 0.01;
  EXPECT_EQ(pick(processes.options()).disturbed, "");
}

TEST(PickProcesses, ABusyMachineIsRecognisedEarly) {
  MadeUpProcesses processes;
  PickOptions options = processes.options();
  options.processes = 7;
  processes.lost_share = 0.16;
  EXPECT_EQ(pick(options).processes, 3);
  EXPECT_THAT(pick(options).disturbed, HasSubstr("16 %"));
  processes.lost_share = 0.06;  // quieter processes could follow
  EXPECT_EQ(pick(options).processes, 7);
  EXPECT_THAT(pick(options).disturbed, HasSubstr("6 %"));
}

}  // namespace
}  // namespace posenc
