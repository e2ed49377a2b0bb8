// Two builds that take turns. Times are made up: no test here reads a clock.
#include "posenc/suite/compare.h"

#include "measurements.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace posenc::test {
namespace {

/// Two builds. Every row takes a microsecond, times what the machine, chance and the build add.
struct TwoBuilds {
  std::vector<double> of_build = {1, 1};  ///< factors
  double drift = 1;                       ///< of the machine, from one process to the next
  double noise = 0;                       ///< standard deviation of a logarithm
  std::string order = {};                 ///< who was called
  std::mt19937 random{7};

  BuildsRequest request(std::vector<Measurement> rows, int rounds = 8) {
    BuildsRequest made;
    made.rows = std::move(rows);
    made.rounds = rounds;
    const auto by = [this](std::size_t build) {
      return [this, build](const TimingRequest& asked) {
        order += build == 0 ? 'A' : 'B';
        machine *= drift;
        Timing timing;
        std::normal_distribution<double> chance(0, noise);
        for (std::size_t i = 0; i < asked.rows.size(); ++i) {
          const double own = noise > 0 ? std::exp(chance(random)) : 1;
          timing.seconds.push_back(1e-6 * machine * of_build[build] * own);
        }
        return timing;
      };
    };
    made.time_before = by(0);
    made.time_after = by(1);
    return made;
  }

  double machine = 1;  ///< what drift has become
};

std::vector<Measurement> rows_of(int count) {
  std::vector<Measurement> rows;
  for (int i = 0; i < count; ++i) {
    rows.push_back(measured("backend" + std::to_string(i), 1));
    rows.back().seconds.clear();
  }
  return rows;
}

/// Times two builds, and compares them.
struct Session {
  Session(TwoBuilds builds, int rows)
      : times(time_builds(builds.request(rows_of(rows)))),
        before(document_of(times.before)),
        after(document_of(times.after)),
        comparison(compare(before, after, {.noise_of_session = times.noise})) {}

  BuildTimes times;
  Measurements before, after;
  Comparison comparison;
};

TEST(TimeBuilds, TheyTakeTurnsTableByTable) {
  TwoBuilds builds;
  std::vector<Measurement> rows = rows_of(2);
  rows.push_back(rows.front());
  rows.back().table = table_of({.d_model = 32}, {0, 10});
  const BuildTimes times = time_builds(builds.request(rows, 2));
  EXPECT_EQ(builds.order, "ABBAABBAABBAABBA") << "two rounds of two tables";
  for (const auto* const each : {&times.before, &times.after}) {
    ASSERT_THAT(*each, SizeIs(3));
    for (const Measurement& row : *each) {
      EXPECT_THAT(row.seconds, SizeIs(2));
      EXPECT_THAT(row.self_ratios, SizeIs(2));
    }
  }
}

TEST(TimeBuilds, ADriftOfTheMachineCancels) {
  const Session session({.drift = 1.03}, 3);
  for (const ComparedRow& row : session.comparison.rows) {
    EXPECT_NEAR(row.time.ratio, 1, 1e-9);
    EXPECT_EQ(row.verdict(), "same");
  }
  EXPECT_GT(session.times.noise, 0.08) << "A, B, B, A: a build seems to differ from itself";
}

TEST(TimeBuilds, ABuildThatIsSlowerIsFoundInNoise) {
  const Session session({.of_build = {1, 1.1}, .noise = 0.02}, 50);
  EXPECT_EQ(session.comparison.regressions, 50);
  EXPECT_LT(session.times.noise, 0.02);
}

TEST(TimeBuilds, OfHundredsOfEqualRowsNoneDiffers) {
  std::ptrdiff_t differing = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Session session({.noise = 0.05, .random = std::mt19937(seed)}, 150);
    differing += std::ranges::count_if(
        session.comparison.rows, [](const ComparedRow& row) { return row.verdict() != "same"; });
  }
  EXPECT_LE(differing, 2) << "of 20 sessions, one may err by chance";
}

TEST(TimeBuilds, RefusesWhatCannotBeTimed) {
  TwoBuilds builds;
  EXPECT_THAT(refusal([&] { time_builds(builds.request(rows_of(1), 1)); }),
              HasSubstr("rounds are 1; allowed: at least 2"));
  BuildsRequest request = builds.request(rows_of(1));
  request.samples = 0;
  EXPECT_THAT(refusal([&] { time_builds(request); }), HasSubstr("samples is 0"));
}

TEST(FindRow, LooksAtTheTableAndNotAtItsName) {
  Measurements document = document_of({measured("naive", 1)});
  Measurement wanted = document.all.front();
  wanted.table.name = "a preset";
  EXPECT_EQ(find_row(document, wanted), document.all.data());
  wanted.table.type = DataType::float16;
  EXPECT_EQ(find_row(document, wanted), nullptr);
}

}  // namespace
}  // namespace posenc::test
