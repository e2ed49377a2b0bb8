#include "posenc/tuning/timing.h"

#include "posenc/registry.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posenc {
namespace {

using test::refusal;
using testing::HasSubstr;

TEST(TimeCandidates, TimesEachCandidateAndReportsLostTime) {
  const std::string rotation = backend("rotation").full_name();
  TimingRequest request;
  request.seconds_per_sample = 1e-4;
  request.tables = {{{.d_model = 64}, {0, 40}, {{"naive:scalar", 2}, {rotation, 3}}, 1}};
  const TimingResult result = time_candidates(request);
  ASSERT_EQ(result.tables.size(), 1U);
  ASSERT_EQ(result.tables.front().seconds.size(), 2U);
  for (const double each : result.tables.front().seconds) EXPECT_GT(each, 0);
  EXPECT_GT(result.tables.front().repeated_seconds, 0);
  EXPECT_GT(result.timed_seconds, 0);
  EXPECT_GE(result.lost_seconds, 0);

  const auto refused = [&](auto change) {
    TimingRequest bad = request;
    change(bad);
    return refusal([&] { time_candidates(bad); });
  };
  EXPECT_THAT(refused([](auto& r) { r.tables[0].repeated = 2; }), HasSubstr("repeated is 2"));
  EXPECT_THAT(refused([](auto& r) { r.tables[0].candidates.clear(); }),
              HasSubstr("candidates is empty"));
  EXPECT_THAT(refused([](auto& r) { r.tables[0].candidates[0].samples = 0; }),
              HasSubstr("samples is 0"));
  EXPECT_THAT(refused([](auto& r) { r.tables[0].candidates[0].backend = "x"; }),
              HasSubstr("backend is 'x'"));
  EXPECT_THAT(refused([](auto& r) { r.threads = 0; }), HasSubstr("threads is 0"));
}

}  // namespace
}  // namespace posenc
