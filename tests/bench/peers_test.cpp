// Other libraries behind the Backend interface: they stay within their stated bounds, are never
// picked, and write float32 alone.
#include "peers.h"
#include "posenc/frequency_rule_text.h"
#include "support.h"

#include <string>
#include <vector>

namespace posenc::test {
namespace {

/// The peers of this build that run here.
std::vector<const Backend*> running_peers() {
  peers::register_peers();
  std::vector<const Backend*> running = running_backends();
  std::erase_if(running, [](const Backend* each) { return each->can_be_picked(); });
  return running;
}

class Peer : public testing::TestWithParam<const Backend*> {};

INSTANTIATE_TEST_SUITE_P(All, Peer, testing::ValuesIn(running_peers()), of_backend);

void expect_within_bound(const Backend& peer, const EncodingSpec& spec, RowRange rows) {
  SCOPED_TRACE(testing::Message() << testing::PrintToString(spec) << ", rows " << rows.first
                                  << " + " << rows.count);
  const auto encoder = peer.plan(spec);
  const AccuracyReport report = accuracy_of(*encoder, rows);
  EXPECT_LE(report.error.max_abs, report.promise.max_abs)
      << "worst: position " << report.worst().position << ", channel " << report.worst().channel
      << ", got " << report.worst().got;
}

TEST_P(Peer, IsWithinItsBoundInEveryLayoutAndTail) {
  for (const Layout layout : all_layouts) {
    for (const Spacing spacing : all_spacings) {
      for (const std::int64_t d_model : {2, 20, 66, 512, 1026}) {
        expect_within_bound(*GetParam(), {.d_model = d_model, .layout = layout, .spacing = spacing},
                            {0, 50});
      }
    }
  }
}

// On both sides of 201, 39000 and 117435 rad, where libraries change their argument reduction, and
// beyond the integers that float32 represents.
TEST_P(Peer, IsWithinItsBoundAtSmallAndLargePositions) {
  for (const std::int64_t first : {100LL, 18'800LL, 25'900LL, 38'980LL, 71'400LL, 117'400LL,
                                   131'000LL, 799'990LL, 16'777'210LL, 1'000'000'000'000LL}) {
    expect_within_bound(*GetParam(), {.d_model = 130}, {first, 100});
  }
  expect_within_bound(*GetParam(), {.d_model = 34}, {max_position - 49, 50});
  for (const std::int64_t first : {-50LL, -20LL, -117'400LL, -1'000'000'000'000LL})
    expect_within_bound(*GetParam(), {.d_model = 130}, {first, 50});
}

TEST_P(Peer, IsWithinItsBoundForOtherBasesAndRules) {
  std::vector<EncodingSpec> specs;
  for (const double base : {1.0000001, 2.0, 500000.0, 1e300})
    specs.push_back({.d_model = 66, .base = base});
  for (const char* const rule : {"linear:factor=4", "llama3", "own:values=3/0.5/0"})
    specs.push_back({.d_model = 6, .base = 5e5, .frequencies = parse_frequency_rule(rule)});
  for (const EncodingSpec& spec : specs) {
    for (const std::int64_t first : {0LL, 20'000LL, 1'000'000LL})
      expect_within_bound(*GetParam(), spec, {first, 50});
  }
}

TEST_P(Peer, SaysItsTypeAndHowItsPhasesAreRounded) {
  const Backend& peer = *GetParam();
  for (const DataType type : all_data_types)
    EXPECT_EQ(peer.supports(type), type == DataType::float32);
  EXPECT_THAT(std::string(peer.phases()), AnyOf("double", StartsWith("float32")));
  // Phases decide the error far out.
  const bool is_double = peer.phases() == "double";
  EXPECT_EQ(peer.plan({.d_model = 512})->error_bound({0, 1 << 20}) < 1e-4, is_double);
}

TEST_P(Peer, WritesARowThatDependsOnItsPositionAlone) {
  const EncodingSpec spec{.d_model = 74};
  const auto encoder = GetParam()->plan(spec);
  for (const std::int64_t first : {0LL, 4090LL, 38'990LL, 131'060LL, 1'000'000LL}) {
    const RowRange rows{first, 40};
    const Matrix whole = encoded(*encoder, rows);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      GuardedMatrix alone(1, spec.d_model, spec.d_model + 5, 3);
      encoder->encode({.first = first + r, .count = 1}, alone.view());
      ASSERT_TRUE(same_bits(whole.row(r), alone.row(0))) << "position " << first + r;
      ASSERT_TRUE(alone.surroundings_untouched());
    }
  }
}

}  // namespace
}  // namespace posenc::test
