// posenc::check::heads(): the mistakes that kernels are known to make with pairs, rules, factors,
// axes and positions. Each is made on purpose, and the verdict names it.
#include "posenc/check/heads.h"

#include "support.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace posenc::test {

using namespace model;
using namespace check;
namespace {

constexpr std::int64_t rows = 96, heads_of_row = 8;

/// Random heads, which kernels turn in double precision.
struct TurnedHeads {
  std::int64_t channels;
  std::vector<float> before = {}, after = {};

  explicit TurnedHeads(std::int64_t channels_of_head) : channels(channels_of_head) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < rows * heads_of_row * channels; ++i)
      before.push_back(static_cast<float>(normal(random)));
    after = before;
  }

  /// Turns channels i and j of every head of a row. The second channel may have another angle.
  void turn(std::int64_t row, std::int64_t i, std::int64_t j, double angle, double factor = 1,
            double second_angle = NAN) {
    const double other = std::isnan(second_angle) ? angle : second_angle;
    for (std::int64_t head = 0; head < heads_of_row; ++head) {
      const auto at = static_cast<std::size_t>((row * heads_of_row + head) * channels),
                 a = at + static_cast<std::size_t>(i), b = at + static_cast<std::size_t>(j);
      const double x = after[a], y = after[b];
      after[a] = static_cast<float>(factor * (x * std::cos(angle) - y * std::sin(angle)));
      after[b] = static_cast<float>(factor * (y * std::cos(other) + x * std::sin(other)));
    }
  }

  /// Turns as posenc does.
  void apply(const RotarySpec& rotary, const RowPositions& positions, std::int64_t offset = 0) {
    HeadsView view = rows_first(after.data(), 1, rows, heads_of_row, channels);
    view.data = after.data() + offset;
    view.columns -= offset;
    Rotary(rotary).apply(view, positions);
  }

  HeadsTable table(const std::vector<float>& of) const {
    return {of.data(),
            DataType::float32,
            {rows, heads_of_row, channels},
            {heads_of_row * channels, channels, 1}};
  }
  HeadsReport checked(const RotarySpec& claimed, const HeadsOptions& options = {}) const {
    return check::heads(table(before), table(after), claimed, options);
  }
};

double frequency(double base, std::int64_t k, std::int64_t dimension) {
  return std::pow(base, -2 * static_cast<double>(k) / static_cast<double>(dimension));
}

void expect_cause(const HeadsReport& report, const std::vector<std::string>& parts) {
  EXPECT_FALSE(report.is_good);
  for (const std::string& each : parts) EXPECT_THAT(to_string(report), HasSubstr(each));
}

/// Turned as `actual` at these positions, and checked against `claimed` at positions 0, 1, 2, ...
HeadsReport judged(const RotarySpec& actual, const RotarySpec& claimed,
                   const std::function<std::int64_t(std::int64_t)>& position = std::identity(),
                   const HeadsOptions& options = {}) {
  TurnedHeads heads(claimed.dimension());
  std::vector<std::int64_t> positions;
  for (std::int64_t row = 0; row < rows; ++row) positions.push_back(position(row));
  heads.apply(actual, positions);
  return heads.checked(claimed, options);
}

RotarySpec with_rule(const FrequencyRule& rule, std::int64_t dimension = 64, double base = 1e4) {
  return rotary_spec({.d_model = dimension, .base = base, .frequencies = rule});
}

TEST(CheckHeadMistakes, LeadingBlockInPlaceOfTheWholeHead) {
  // Gemma 4: pairs (k, 256 + k) of 512 channels, of which the first 64 turn.
  const RotarySpec gemma = with_rule(ProportionalScaling{.turned = 64}, 512, 1e6);
  TurnedHeads right(512), wrong(512);
  right.apply(gemma, RowRange{0, rows});
  EXPECT_TRUE(right.checked(gemma).is_good) << to_string(right.checked(gemma));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < 64; ++k)
      wrong.turn(row, k, 64 + k, static_cast<double>(row) * frequency(1e6, k, 512));
  expect_cause(wrong.checked(gemma),
               {"wrong: the angles are right, but not the channels",
                "the pairs of channels are (k, 64 + k), halves, not (k, 256 + k), halves, which "
                "explains 100 % of what turns of the claimed pairs do not"});
  // The exponents are those of the block, too.
  TurnedHeads both(512);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < 64; ++k)
      both.turn(row, k, 64 + k, static_cast<double>(row) * frequency(1e6, k, 128));
  expect_cause(both.checked(gemma), {"(k, 64 + k), halves, not (k, 256 + k), halves",
                                     "the exponents are -2k / 128, not -2k / 512, which explains"});
}

TEST(CheckHeadMistakes, LatentChannelsAtTheWrongPlace) {
  const RotarySpec latent = rotary_spec({.d_model = 64}, RotaryLayout::interleaved);
  TurnedHeads right(192), wrong(192);
  right.apply(latent, RowRange{0, rows}, 128);
  wrong.apply(latent, RowRange{0, rows});
  EXPECT_TRUE(right.checked(latent, {.offset = 128}).is_good);
  expect_cause(wrong.checked(latent, {.offset = 128}),
               {"the pairs of channels are (2k, 2k + 1), interleaved, not (128 + 2k, 2k + 129)"});
  expect_cause(right.checked(latent), {"(128 + 2k, 2k + 129), interleaved, not (2k, 2k + 1)"});
}

TEST(CheckHeadMistakes, TwoConventionsMixed) {
  // rotate_half with a cache whose cosines stand side by side, and the reverse.
  TurnedHeads halves(64), interleaved(64);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < 32; ++k) {
      const auto angle = [&](std::int64_t place) {
        return static_cast<double>(row) * frequency(1e4, place, 64);
      };
      halves.turn(row, k, 32 + k, angle(k / 2), 1, angle((32 + k) / 2));
      interleaved.turn(row, 2 * k, 2 * k + 1, angle(2 * k % 32), 1, angle((2 * k + 1) % 32));
    }
  }
  expect_cause(halves.checked(with_rule({})),
               {"two conventions are mixed: the pairs of channels are (k, 32 + k), halves, but "
                "each channel turns by its angle in (2k, 2k + 1), interleaved, which explains 100 "
                "%"});
  expect_cause(interleaved.checked(with_rule({})),
               {"mixed: the pairs of channels are (2k, 2k + 1), interleaved, but"});
}

TEST(CheckHeadMistakes, TurnedShareTwiceOrNever) {
  for (const auto& [dimension, said] :
       {std::pair(8, "the dimension is 8, not 16, as if the turned share were applied twice"),
        {32, "a larger dimension, 32, as if the turned share were ignored"}}) {
    TurnedHeads heads(32);
    heads.apply(with_rule({}, dimension), RowRange{0, rows});
    expect_cause(heads.checked(with_rule({}, 16)), {said, "wrong: the angles are right"});
  }
}

TEST(CheckHeadMistakes, AttentionFactors) {
  const struct {
    double claimed, applied;
    YarnScaling rule;
    const char* said;
  } cases[] = {
      {1.4852,
       1.4852 * 1.4852,
       {.factor = 128},
       "the attention factor is squared: the attention factor is 2.20582, not 1.4852, which "
       "explains 100 % of the angles that are off"},
      {1.4852, 1, {.factor = 128}, "the attention factor 1.4852 is missing"},
      {0.1 * std::log(4) + 1,
       0.2 * std::log(4) + 1,
       {.factor = 4},
       "the logarithm in YaRN's attention factor is applied twice: the attention factor is "
       "1.27726, not 1.13863"},
      {1,
       0.1 * std::log(40) + 1,
       {.factor = 40, .attention_factor = 1},
       "the attention factor is the one that YaRN computes: the attention factor is 1.36889, not "
       "1"},
      {1.5, 1.6, {.factor = 40}, "the attention factor is 1.6, not 1.5, which explains 100 %"},
  };
  for (const auto& each : cases) {
    YarnScaling rule = each.rule;
    rule.attention_factor = 1;
    RotarySpec claimed = with_rule(rule), actual = claimed;
    claimed.attention_factor = each.claimed;
    actual.attention_factor = each.applied;
    expect_cause(judged(actual, claimed), {each.said});
  }
}

TEST(CheckHeadMistakes, RulesThatWereLoadedAndNotUsed) {
  const YarnScaling yarn = {.factor = 8, .attention_factor = 1};
  for (const FrequencyRule& rule :
       {FrequencyRule(yarn), FrequencyRule(Llama3Scaling{}), FrequencyRule(LinearScaling{8}),
        FrequencyRule(LongRopeScaling{std::vector<double>(32, 3.0), 1.0})}) {
    expect_cause(judged(with_rule({}), with_rule(rule)),
                 {"is missing: frequencies are those of the base, which explains 100 %"});
  }
  YarnScaling exact = yarn;
  exact.truncate = false;
  expect_cause(judged(with_rule(yarn), with_rule(exact)),
               {"the bounds of YaRN's ramp are rounded, which explains"});
  expect_cause(judged(with_rule(LinearScaling{16}), with_rule(LinearScaling{4})),
               {"the factor 4 of the rule is applied twice"});
  expect_cause(judged(with_rule({}), with_rule({}, 64, 5e5)),
               {"the base is 10000, not 500000, which explains 100 %"});
  expect_cause(judged(with_rule({}, 64, 7654), with_rule({}, 64, 5e5)), {"the base is 7654"});
}

TEST(CheckHeadMistakes, BetasExchanged) {
  // With beta_fast 1 and beta_slow 32, the ramp runs from the slow frequencies to the fast ones.
  const YarnScaling yarn = {.factor = 8, .attention_factor = 1};
  const double log_base = 2 * std::log(1e4);
  const auto index = [&](double beta) {
    return 64 * std::log(4096 / (beta * 2 * std::numbers::pi)) / log_base;
  };
  const double low = std::max(std::floor(index(1)), 0.0), high = std::ceil(index(32));
  OwnFrequencies own;
  for (std::int64_t k = 0; k < 32; ++k) {
    const double ramp = std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0);
    own.values.push_back(frequency(1e4, k, 64) * (ramp / 8 + 1 - ramp));
  }
  expect_cause(judged(with_rule(own), with_rule(yarn)),
               {"beta_fast and beta_slow of YaRN are exchanged, which explains 100 %"});
}

TEST(CheckHeadMistakes, OtherEmbeddingsOfTheModel) {
  LongRopeScaling brief = {std::vector<double>(32, 1.0), 1.25}, full = brief;
  for (std::size_t k = 0; k < 32; ++k) full.factors[k] += static_cast<double>(k * k) / 50;
  const HeadsOptions options = {.others = {{"sequences of 4096 rows", with_rule(brief)}}};
  expect_cause(judged(with_rule(brief), with_rule(full), std::identity(), options),
               {"the rotary embedding is that of sequences of 4096 rows, which explains 100 %"});
}

TEST(CheckHeadMistakes, Positions) {
  const RotarySpec rotary = with_rule({}, 64, 5e5);
  const auto expect = [&](const std::function<std::int64_t(std::int64_t)>& position,
                          const std::string& said, std::int64_t first = 0) {
    expect_cause(judged(rotary, rotary, position, {.first = first}), {said, "explains 100 %"});
  };
  expect([](auto row) { return 2 * row; }, "each angle is doubled: the positions are doubled");
  expect([](auto row) { return 1000 + 2 * row; }, "in steps that are doubled", 1000);
  expect([](auto row) { return row; }, "positions are counted from 0", 1000);
  expect([](auto row) { return row - 130000; }, "the first row is position -130000, not 0");
  expect([](auto row) { return 1001 + row; }, "the first row is position 1001, not 1000", 1000);
  expect([](auto row) { return -row; }, "the sines are negated");
  expect([](auto) { return 1000; }, "all rows have the position of the first row", 1000);
  expect([](auto row) { return 1095 - row; }, "in reversed order", 1000);
  std::vector<std::int64_t> gathered;
  for (std::int64_t row = 0; row < rows; ++row) gathered.push_back(row * 37 % 101);
  expect_cause(judged(rotary, rotary, std::identity(), {.positions = RowPositions(gathered)}),
               {"the positions are the numbers of the rows"});
}

TEST(CheckHeadMistakes, SectionsAndInterleavedSections) {
  const EncodingSpec spec = {.d_model = 128, .base = 1e6};
  const RotarySpec sections = {.angles = axes_in_sections({24, 20, 20}, spec)},
                   interleaved = {.angles = axes_interleaved({24, 20, 20}, spec)};
  std::vector<std::int64_t> positions(3 * rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    positions[static_cast<std::size_t>(row)] = row / 48;
    positions[static_cast<std::size_t>(rows + row)] = row / 8 % 6;
    positions[static_cast<std::size_t>(2 * rows + row)] = row % 8;
  }
  const RowPositions on_axes(positions.data(), 3, rows, rows);
  TurnedHeads of_sections(128), of_interleaved(128), of_one(128);
  of_sections.apply(sections, on_axes);
  of_interleaved.apply(interleaved, on_axes);
  of_one.apply({.angles = one_axis(spec)}, on_axes.list(0));
  EXPECT_TRUE(of_sections.checked(sections, {.positions = on_axes}).is_good);
  expect_cause(of_sections.checked(interleaved, {.positions = on_axes}),
               {"the axes are in sections of 24, 20, 20 pairs, not interleaved, of 24, 20, 20 "
                "pairs, which explains 100 %"});
  expect_cause(of_interleaved.checked(sections, {.positions = on_axes}),
               {"the axes are interleaved, of 24, 20, 20 pairs, not in sections of"});
  expect_cause(of_one.checked(sections, {.positions = on_axes}), {"all pairs turn by axis 0"});
}

TEST(CheckHeadMistakes, SeveralAtOnce) {
  // A rule is missing, the sines are negated, and the attention factor is missing.
  const RotarySpec claimed = with_rule(YarnScaling{.factor = 16});
  const HeadsReport report = judged(with_rule({}), claimed, [](std::int64_t row) { return -row; });
  EXPECT_EQ(report.causes.size(), 3U) << to_string(report);
  expect_cause(report, {"frequencies are those of the base; and the sines are negated",
                        "the attention factor 1.27726 is missing, which together explains 100 %"});
}

TEST(CheckHeadMistakes, RightHeadsOfAnyShapeAreGood) {
  std::mt19937_64 random(11);
  std::normal_distribution<float> normal;
  for (const RotaryLayout layout : {RotaryLayout::halves, RotaryLayout::interleaved}) {
    for (const std::int64_t count : {1, 2, 3, 7, 40}) {
      for (const std::int64_t heads : {1, 2, 3, 40}) {
        for (const std::int64_t channels : {32, 64}) {
          const RotarySpec rotary = rotary_spec({.d_model = 32}, layout);
          std::vector<float> before;
          for (std::int64_t i = 0; i < count * heads * channels; ++i)
            before.push_back(normal(random));
          std::vector<float> after = before;
          Rotary(rotary).apply(rows_first(after.data(), 1, count, heads, channels), 5);
          const auto table = [&](const std::vector<float>& of) -> HeadsTable {
            return {of.data(),
                    DataType::float32,
                    {count, heads, channels},
                    {heads * channels, channels, 1}};
          };
          const HeadsReport report =
              check::heads(table(before), table(after), rotary, {.first = 5});
          EXPECT_TRUE(report.is_good)
              << count << " x " << heads << " x " << channels << to_string(report);
        }
      }
    }
  }
}

TEST(CheckHeadMistakes, UnrecognisedHeadsTakeNoLongTime) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  const RotarySpec rotary = with_rule(YarnScaling{.factor = 4}, 128, 1e6);
  std::vector<float> before(128 * 32 * 128), noise(before.size());
  for (float& each : before) each = normal(random);
  for (float& each : noise) each = normal(random);
  std::vector<float> right = before;
  Rotary(rotary).apply(rows_first(right.data(), 1, 128, 32, 128));
  const auto seconds = [&](const std::vector<float>& after) {
    double least = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto table = [&](const std::vector<float>& of) -> HeadsTable {
        return {of.data(), DataType::float32, {128, 32, 128}, {32 * 128, 128, 1}};
      };
      const auto start = std::chrono::steady_clock::now();
      check::heads(table(before), table(after), rotary);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      least = std::min(least, time.count());
    }
    return least;
  };
  // The ratio was 1.8. Other programs may disturb the times.
  EXPECT_LT(seconds(noise), 4 * seconds(right));
}

TEST(CheckHeadMistakes, SaysWhatWasMeasuredIfNoCauseIsKnown) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(0, 6.28);
  TurnedHeads noise(64), heads(64);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < 32; ++k) noise.turn(row, k, 32 + k, any(random));
  const HeadsReport report = noise.checked(with_rule({}));
  EXPECT_THAT(report.causes, IsEmpty()) << to_string(report);
  EXPECT_THAT(to_string(report), HasSubstr("pairs 0 .. 31 are not turned evenly"));
  // The elements have nothing to do with one another.
  for (float& each : heads.after) each = static_cast<float>(any(random));
  const HeadsReport unlike = heads.checked(with_rule({}));
  EXPECT_THAT(unlike.causes, IsEmpty()) << to_string(unlike);
  EXPECT_THAT(to_string(unlike), HasSubstr("leave"));
  // One pair turns too fast.
  TurnedHeads one(64);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < 32; ++k)
      one.turn(row, k, 32 + k,
               (k == 5 ? 1.5 : 1) * static_cast<double>(row) * frequency(1e4, k, 64));
  expect_cause(one.checked(with_rule({})),
               {"pair 5 is off, the other 31 right", "found: pair 5 turns by 0.355"});
}

}  // namespace
}  // namespace posenc::test
