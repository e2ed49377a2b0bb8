// The engine: what it measures, how many processes it takes, and when it reports noise. Times are
// made up where a test depends on them.
#include "posenc/suite/measure.h"

#include "fake_backend.h"
#include "posenc/suite/pick.h"
#include "support.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>

namespace posenc::test {
namespace {

const MeasuredTable small = table_of({.d_model = 64}, {0, 40});
const MeasuredTable by_two_threads = table_of({.d_model = 64}, {0, 40}, DataType::float32, 2);
/// Positions at which float32 phases are inaccurate.
const MeasuredTable long_one = table_of({.d_model = 16}, {100'000, 2000});

/// In this process, for tests that do not depend on the times.
MeasureOptions quick(std::vector<MeasuredTable> tables) {
  MeasureOptions options;
  options.tables = std::move(tables);
  options.processes = 1;
  options.samples = 2;
  options.seconds_per_sample = 1e-4;
  return options;
}

const Measurement& row_of(const Measurements& document, std::string_view full_name,
                          const MeasuredTable& table = small) {
  for (const Measurement& each : document.all) {
    if (each.full_name() == full_name && each.table == table) return each;
  }
  throw std::runtime_error("no measurement of " + std::string(full_name));
}

TEST(Measure, EveryBackendAndLimitIsARowOfEveryTableAndOneIsTimedTwice) {
  const RegisteredFake peer({.name = "peer", .can_be_picked = false});
  const Measurements document = measure(quick({small, long_one, by_two_threads}));
  for (const MeasuredTable& table : {small, long_one, by_two_threads}) {
    for (const Backend* each : running_backends()) {
      const Measurement& row = row_of(document, each->full_name(), table);
      EXPECT_EQ(row.role, each->can_be_picked() ? Role::backend : Role::peer);
      EXPECT_THAT(row.seconds, Not(IsEmpty()));
      EXPECT_EQ(row.self_ratios.empty(), each != &backend("rotation"));
      ASSERT_TRUE(row.error && row.promise);
      EXPECT_LE(row.error->max_abs, row.promise->max_abs);
      EXPECT_TRUE(row.error->correctly_rounded == 1.0 || !row.promise->is_correctly_rounded);
    }
    for (const char* limit : {"store", "non_temporal_store", "copy"}) {
      const Measurement& row = row_of(document, limit, table);
      EXPECT_EQ(row.role, Role::limit);
      EXPECT_THAT(row.seconds, Not(IsEmpty()));
      EXPECT_FALSE(row.error || row.promise || !row.self_ratios.empty());
    }
  }
  EXPECT_GT(row_of(document, "div_term:portable", long_one).error->max_abs, 1e-6);
  for (const Backend* each : running_backends()) {
    EXPECT_EQ(*row_of(document, each->full_name(), by_two_threads).error,
              *row_of(document, each->full_name()).error);
  }
}

TEST(Measure, TakesTheBackendsAndTheTypeThatItIsAskedFor) {
  MeasureOptions options = quick({table_of({.d_model = 64}, {0, 40}, DataType::float64)});
  options.backends = {&backend("naive"), &backend("rotation32")};
  const Measurements document = measure(options);
  ASSERT_EQ(document.all.size(), 1U + 3U) << "rotation32 writes no float64; three limits";
  EXPECT_EQ(document.all.front().backend, "naive");
  EXPECT_THAT(document.all.front().self_ratios, Not(IsEmpty()));  // no limit has them
  options.backends = {&backend("rotation32")};
  EXPECT_THAT(refusal([&] { measure(options); }), HasSubstr("can write float64"));
}

TEST(Measure, ATableThatNeedsTooMuchMemoryIsLeftOutAndNamed) {
  MeasureOptions options = quick({small, long_one});
  options.most_bytes = 2 * small.bytes();
  const Measurements document = measure(options);
  for (const Measurement& each : document.all) EXPECT_EQ(each.table, small);
  EXPECT_THAT(document.left_out, AllOf(HasSubstr("2000x16, first 100000: a table and its copy"),
                                       testing::EndsWith(" bytes")));
  options.most_bytes = 100;
  EXPECT_THAT(refusal([&] { measure(options); }), HasSubstr("nothing is left to measure: 40x64;"));
  EXPECT_EQ(measure(quick({small})).left_out, "");
}

TEST(Measure, ABackendThatBreaksItsBoundIsNotTimed) {
  const RegisteredFake fake({.name = "breaks_bound", .can_be_picked = true, .error_bound = 1e-9});
  const Measurements document = measure(quick({small}));
  const Measurement& row = row_of(document, "breaks_bound:portable");
  EXPECT_GT(row.error->max_abs, 0.4);
  EXPECT_FALSE(row.keeps_its_promise());
  EXPECT_THAT(row.seconds, IsEmpty());
}

TEST(Measure, DefaultTablesGoFromTheFirstCacheToMemory) {
  for (const DataType type : all_data_types) {
    std::set<ShapeClass> classes;
    std::set<std::string> names;
    for (const MeasuredTable& each : default_tables(type)) {
      EXPECT_TRUE(names.insert(each.name).second) << each.name;
      EXPECT_EQ(each.type, type);
      classes.insert(shape_class(each.bytes()));
    }
    EXPECT_THAT(names, testing::IsSupersetOf({"8x512", "5000x512", "131072x128", "8192x4096"}))
        << "on every machine";
    const MeasuredTable last = default_tables(type).back();  // no larger than need be
    EXPECT_TRUE(last.rows.count == 8192 || shape_class(last.bytes() / 2) != ShapeClass::memory);
    EXPECT_TRUE(classes.contains(ShapeClass::l1));
    EXPECT_TRUE(classes.contains(ShapeClass::memory) || cpu().l3_bytes >= (std::int64_t{1} << 30));
  }
}

TEST(Measure, ProgressRisesAndNamesTheCurrentStep) {
  MeasureOptions options = quick({small, long_one});
  options.processes = 2;
  std::vector<double> shares;
  options.progress = [&](double share, std::string_view doing) {
    shares.push_back(share);
    EXPECT_FALSE(doing.empty());
  };
  measure(options);
  ASSERT_FALSE(shares.empty());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
}

TEST(Measure, RefusesBadOptions) {
  const auto with = [](auto change) {
    MeasureOptions options = quick({small});
    change(options);
    return [=] { measure(options); };
  };
  for (const double bad : {0.0, nan, std::numeric_limits<double>::infinity()})
    expect_refused({{"seconds_per_sample is", with([&](auto& o) { o.seconds_per_sample = bad; })}});
  expect_refused({
      {"processes is 0", with([](auto& o) { o.processes = 0; })},
      {"samples is 0", with([](auto& o) { o.samples = 0; })},
      {"d_model is 3", with([](auto& o) { o.tables[0].spec.d_model = 3; })},
  });
}

double rotation_first(std::size_t process, const std::string& name) {
  const double noise = 1 + 0.001 * static_cast<double>(process % 3);
  return noise * (name.starts_with("rotation:") ? 1e-6 : 3e-6);
}

/// Replaces the timing processes by made-up times for each process and row.
class MadeUpProcesses {
 public:
  std::vector<TimingRequest> requests;
  std::function<double(std::size_t process, const std::string& name)> seconds = rotation_first;
  double noise = 0;  ///< relative difference between two timings of the same backend
  double lost_share = 0;

  MeasureOptions options() {
    MeasureOptions made = quick({small});
    made.processes = 3;
    made.time_in_process = [this](const TimingRequest& request) {
      const std::size_t process = requests.size();
      requests.push_back(request);
      Timing timing = {.seconds = {}, .timed_seconds = 1, .lost_seconds = lost_share};
      std::string last;
      for (const Measurement& row : request.rows) {
        const double more = row.full_name() == last ? 1 + noise : 1;
        last = row.full_name();
        timing.seconds.push_back(more * seconds(process, last));
      }
      return timing;
    };
    return made;
  }
};

TEST(MeasuringProcesses, EachTimesEveryRowInItsOwnOrder) {
  MadeUpProcesses processes;
  const Measurements document = measure(processes.options());
  ASSERT_EQ(processes.requests.size(), 3U);
  std::set<std::uint64_t> seeds;
  for (const TimingRequest& each : processes.requests) {
    seeds.insert(each.seed);
    EXPECT_EQ(each.rows.size(), document.all.size() + 1) << "one is timed twice";
    EXPECT_EQ(each.samples, 2);
  }
  EXPECT_EQ(seeds.size(), 3U);
  for (const Measurement& each : document.all) EXPECT_EQ(each.seconds.size(), 3U);
  EXPECT_EQ(document.disturbed, "");
  EXPECT_EQ(pick(document).front().pick.value().backend, "rotation");
}

TEST(MeasuringProcesses, OneDisturbedProcessDecidesNothing) {
  MadeUpProcesses processes;
  // In the first process, the fastest backend takes a hundred times as long.
  processes.seconds = [](std::size_t process, const std::string& name) {
    const double first = process == 0 && name.starts_with("rotation:") ? 100 : 1;
    return first * rotation_first(process, name);
  };
  MeasureOptions options = processes.options();
  options.processes = 5;
  const Verdict verdict = pick(measure(options)).front();
  // If the decision is uncertain, it is a tie that includes the fastest backend.
  std::vector<Candidate> fastest = verdict.others;
  std::erase_if(fastest, [](const Candidate& each) { return !each.tied; });
  fastest.push_back(verdict.pick.value());
  EXPECT_THAT(fastest, Contains(testing::Field(&Candidate::backend, "rotation")));
}

TEST(MeasuringProcesses, NoiseAddsProcessesAndIsReported) {
  MadeUpProcesses processes;
  processes.noise = 0.05;
  Measurements document = measure(processes.options());
  EXPECT_EQ(processes.requests.size(), 6U);
  EXPECT_EQ(document.disturbed, "");
  EXPECT_NEAR(noise_floor_of(document), 0.05, 1e-6);
  processes.noise = 0.3;
  document = measure(processes.options());
  EXPECT_THAT(document.disturbed, AllOf(HasSubstr("the machine is busy"), HasSubstr("30 %")));
}

TEST(MeasuringProcesses, VariationOfOneBackendIsNoiseAndOfAProcessIsNot) {
  // There is no noise within a process, but every second process takes longer.
  MadeUpProcesses processes;
  processes.seconds = [](std::size_t process, const std::string& name) {
    const bool is_slow = process % 2 == 1 && name.starts_with("rotation:");
    return (is_slow ? 1.25 : 1.0) * rotation_first(0, name);
  };
  Measurements document = measure(processes.options());
  EXPECT_NEAR(noise_floor_of(document), 0.25, 1e-6);
  EXPECT_THAT(document.disturbed, HasSubstr("25 %"));

  processes.requests.clear();
  processes.seconds = [](std::size_t process, const std::string& name) {
    return (process % 2 == 1 ? 1.6 : 1.0) * rotation_first(0, name);
  };
  document = measure(processes.options());
  EXPECT_NEAR(noise_floor_of(document), 0, 1e-6);
  EXPECT_EQ(pick(document).front().pick.value().backend, "rotation");
  EXPECT_EQ(document.disturbed, "");
}

TEST(MeasuringProcesses, LostProcessorTimeIsReportedAndAHopelessMachineLeftEarly) {
  MadeUpProcesses processes;
  MeasureOptions options = processes.options();
  options.processes = 7;
  const auto processes_for = [&](double lost_share, const char* said) {
    processes.lost_share = lost_share;
    processes.requests.clear();
    EXPECT_THAT(measure(options).disturbed, HasSubstr(said));
    return processes.requests.size();
  };
  EXPECT_EQ(processes_for(0.01, ""), 7U);
  EXPECT_EQ(processes_for(0.06, "6 %"), 7U) << "quieter processes could follow";
  EXPECT_EQ(processes_for(0.16, "16 %"), 3U);
}

}  // namespace
}  // namespace posenc::test
