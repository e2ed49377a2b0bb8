// posenc::check::heads(): right kernels are good, and a wrong kernel's mistakes are named. The
// mistakes are those that kernels are known to make. Each is made on purpose.
#include "posenc/check/heads.h"

#include "support.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace model;
using namespace check;
namespace {

using Complex = std::complex<double>;

/// The number that a kernel multiplies pair k by at a position.
using Kernel = std::function<Complex(std::int64_t position, std::int64_t k)>;

/// Random heads of shape (rows, heads, channels), and the same after a kernel.
template <class T>
struct TurnedHeads {
  std::int64_t channels, rows, heads;
  std::vector<T> before = {}, after = {};

  explicit TurnedHeads(std::int64_t channels_of_head = 64, std::int64_t row_count = 96,
                       std::int64_t heads_of_row = 8)
      : channels(channels_of_head), rows(row_count), heads(heads_of_row) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < rows * heads * channels; ++i)
      before.push_back(nearest<T>(normal(random)));
    after = before;
  }

  /// Multiplies channels i and j of the heads of a row. Channel j may have a number of its own.
  void turn(std::int64_t row, std::int64_t i, std::int64_t j, Complex by, Complex by_of_j) {
    for (std::int64_t head = row * heads; head < (row + 1) * heads; ++head) {
      T &a = after[static_cast<std::size_t>(head * channels + i)],
        &b = after[static_cast<std::size_t>(head * channels + j)];
      const Complex pair(to_double(a), to_double(b));
      a = nearest<T>((pair * by).real());
      b = nearest<T>((pair * by_of_j).imag());
    }
  }

  /// Turns channels k and k + distance of all heads, for k < count, at positions 0, 1, 2, ... or
  /// from another one on.
  TurnedHeads turned(const Kernel& kernel, std::int64_t count = 32, std::int64_t distance = 32,
                     std::int64_t first = 0) const {
    TurnedHeads result = *this;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < count; ++k) {
        const Complex by = kernel(first + row, k);
        result.turn(row, k, k + distance, by, by);
      }
    }
    return result;
  }

  /// Turns as posenc does, at positions 0, 1, 2, ... or other ones.
  TurnedHeads turned(const RotarySpec& rotary, std::optional<RowPositions> positions = {},
                     std::int64_t offset = 0) const {
    TurnedHeads result = *this;
    HeadsView view = rows_first(result.after.data(), 1, rows, heads, channels);
    view.data = result.after.data() + offset;
    view.columns -= offset;
    Rotary(rotary).apply(view, positions.value_or(RowRange{0, rows}));
    return result;
  }

  HeadsTable table(const std::vector<T>& of) const {
    return {of.data(), data_type_of<T>, {rows, heads, channels}, {heads * channels, channels, 1}};
  }
  HeadsReport checked(const RotarySpec& claimed, const HeadsOptions& options = {}) const {
    return check::heads(table(before), table(after), claimed, options);
  }
};
using Floats = TurnedHeads<float>;

double frequency(double base, std::int64_t k, std::int64_t dimension = 64) {
  return std::pow(base, -2 * static_cast<double>(k) / static_cast<double>(dimension));
}

/// A right kernel of an embedding with this base and dimension.
Kernel turns_of(double base, std::int64_t dimension) {
  return [=](std::int64_t row, std::int64_t k) {
    return std::polar(1.0, static_cast<double>(row) * frequency(base, k, dimension));
  };
}

RotarySpec with_rule(const FrequencyRule& rule, std::int64_t dimension = 64, double base = 1e4) {
  return rotary_spec({.d_model = dimension, .base = base, .frequencies = rule});
}
const RotarySpec usual = with_rule({});

void expect_good(const HeadsReport& report) {
  EXPECT_TRUE(report.is_good) << to_string(report);
  EXPECT_THAT(report.causes, IsEmpty());
}

void expect_cause(const HeadsReport& report, const std::vector<std::string>& parts) {
  EXPECT_FALSE(report.is_good);
  for (const std::string& each : parts) EXPECT_THAT(to_string(report), HasSubstr(each));
}

template <class T>
class CheckRotated : public testing::Test {};
using Types = testing::Types<float, Float16, BFloat16>;
TYPED_TEST_SUITE(CheckRotated, Types, );

TYPED_TEST(CheckRotated, AcceptsRightKernelsAndKnowsTheirNoise) {
  const TurnedHeads<TypeParam> heads(64, 300);
  for (const RotaryLayout layout : {RotaryLayout::halves, RotaryLayout::interleaved}) {
    for (const std::int64_t first : {0, 130772}) {
      const RotarySpec rotary = rotary_spec({.d_model = 64}, layout);
      const HeadsReport report =
          heads.turned(rotary, RowRange{first, 300}).checked(rotary, {.first = first});
      expect_good(report);
      const RotaryLayout other =
          layout == RotaryLayout::halves ? RotaryLayout::interleaved : RotaryLayout::halves;
      expect_cause(heads.turned(rotary_spec({.d_model = 64}, other), RowRange{first, 300})
                       .checked(rotary, {.first = first}),
                   {layout == RotaryLayout::halves ? "the pairs of channels are (2k, 2k + 1)"
                                                   : "the pairs of channels are (k, 32 + k)"});
      // Cosines and sines are rounded to float32, besides.
      EXPECT_LT(report.errors.rms, 1.2 * report.errors.noise + 1.3e-8);
      EXPECT_GT(report.errors.rms, 0.8 * report.errors.noise);
      EXPECT_EQ(report.errors.count, 300 * 32);
    }
  }
}

/// cos + i sin in float32 of phases in float32.
Complex with_float32_phases(std::int64_t position, std::int64_t k) {
  const float power = std::pow(1e4F, static_cast<float>(2 * k) / 64.0F);
  const float phase = static_cast<float>(position) * (1 / power);
  return {std::cos(phase), std::sin(phase)};
}

TYPED_TEST(CheckRotated, NamesWhatIsWrong) {
  constexpr std::int64_t first = 130772;
  const TurnedHeads<TypeParam> heads(64, 300);
  const Kernel exact = turns_of(1e4, 64);
  const std::pair<Kernel, std::string> kernels[] = {
      {with_float32_phases, "phases in float32"},
      {[&](auto position, auto k) {
         const Complex value = exact(position, k);
         return Complex(to_double(nearest<BFloat16>(value.real())),
                        to_double(nearest<BFloat16>(value.imag())));
       },
       "cosines and sines in bfloat16"},
      {[&](auto position, auto k) { return exact(position + 1, k); },
       "the first row is position 130773, not 130772"},
      {[&](auto position, auto k) { return 1.25 * exact(position, k); },
       "every entry is multiplied by 1.2"},
      {[](auto, auto) { return 1; }, "nothing is turned"},
  };
  expect_good(heads.turned(exact, 32, 32, first).checked(usual, {.first = first}));
  for (const auto& [kernel, cause] : kernels)
    expect_cause(heads.turned(kernel, 32, 32, first).checked(usual, {.first = first}), {cause});
  expect_cause(heads.turned(usual, RowRange{first, 300})
                   .checked(with_rule(Llama3Scaling{}), {.first = first}),
               {"is missing: frequencies are those of the base"});
}

TEST(CheckRotatedHeads, FarPositionsShowFloat32Phases) {
  const std::vector<std::int64_t> positions = {0, 1, 40, 2048, 65536, 131071, 1048576, 2147483648};
  const HeadsOptions options = {.positions = RowPositions(positions), .max_error = 2e-7};
  const Floats heads(64, 8);
  expect_good(heads.turned(usual, positions).checked(usual, options));
  const HeadsReport wrong =
      heads
          .turned([&](auto row, auto k) {
            return with_float32_phases(positions[static_cast<std::size_t>(row)], k);
          })
          .checked(usual, options);
  expect_cause(wrong, {"phases in float32"});
  ASSERT_EQ(wrong.by_position.size(), 8U - 1);  // 65536 and 131071 are in one octave
  EXPECT_LT(wrong.by_position[2].errors.max, 1e-5);
  EXPECT_GT(wrong.by_position[6].errors.max, 0.1);
}

TEST(CheckRotatedHeads, AnglesBelowAnUlpMayStickToTheirInput) {
  const RotarySpec rotary = with_rule({}, 64, 5e5);
  for (const int count : {64, 256}) {
    const TurnedHeads<BFloat16> heads(64, 300, count);
    expect_good(heads.turned(turns_of(5e5, 64)).checked(rotary));
    expect_cause(heads.turned(turns_of(5e5, 64), 12).checked(rotary), {"found: pairs 12 .. "});
  }
}

TEST(CheckRotatedHeads, ReadsTransposedHeads) {
  const Floats turned = Floats().turned(usual);
  HeadsTable before = turned.table(turned.before), after = turned.table(turned.after);
  for (HeadsTable* const each : {&before, &after}) {
    std::swap(each->sizes[0], each->sizes[1]);
    std::swap(each->strides[0], each->strides[1]);
  }
  expect_good(check::heads(before, after, usual));
}

TEST(CheckRotatedHeads, NaNAndNumbersInPlaceOfZeroAreWrong) {
  Floats broken = Floats().turned(usual);
  broken.after[5000] = std::nanf("");
  const HeadsReport not_finite = broken.checked(usual);
  EXPECT_EQ(not_finite.angles_off, 1);
  expect_cause(not_finite, {"heads have NaN or infinity, the first in row 9"});
  EXPECT_EQ(broken.checked(usual, {.max_error = 4}).angles_off, 1);  // any angle is allowed
  std::ranges::fill(broken.before, 0.0F);
  EXPECT_FALSE(broken.checked(usual).is_good);
}

/// The report on equal heads of one pair of channels, which was (1, 0).
HeadsReport report_on(float x, float y, const HeadsOptions& options, std::int64_t heads = 1) {
  const auto table = [=](const float(&pair)[2]) -> HeadsTable {
    return {pair, DataType::float32, {1, heads, 2}, {2, 0, 1}};
  };
  const float before[] = {1, 0}, after[] = {x, y};
  return check::heads(table(before), table(after), rotary_spec({.d_model = 2}), options);
}

TEST(CheckRotatedHeads, OneTurnHasItsErrors) {
  const HeadsReport report = report_on(std::cos(1 + 1e-3F), std::sin(1 + 1e-3F), {.first = 1});
  EXPECT_NEAR(report.errors.max, 1e-3, 1e-7);
  EXPECT_THAT(to_string(report),
              StartsWith("wrong: 100 % of the angles or lengths are off by more "
                         "than 5.97e-08 besides the noise: angles by up to 1.00e-03, "));
  EXPECT_THAT(to_string(report), Not(HasSubstr("float64")));
  EXPECT_EQ(report.errors.rms, report.errors.max);
  ASSERT_EQ(report.by_position.size(), 1U);
  EXPECT_EQ(report.by_position[0].errors.rms, report.errors.max);
}

TEST(CheckRotatedHeads, AnglesMayBeOffBySixTimesTheirNoise) {
  static constexpr double allowed = 1e-7;
  const auto turned_by = [](double angle) {
    return report_on(1, static_cast<float>(angle), {.max_error = allowed});
  };
  // Products, a sum and the result are each rounded by 0.42 halves of an ulp.
  const double noise = turned_by(0).errors.noise;
  EXPECT_NEAR(noise, 0.42 * std::sqrt(3) * 0x1p-25, 1e-12);
  EXPECT_DOUBLE_EQ(report_on(1, 0, {}, 9).errors.noise, noise);  // equal heads count as one
  EXPECT_EQ(turned_by(allowed + 5.9 * noise).angles_off, 0);
  EXPECT_EQ(turned_by(allowed + 6.1 * noise).angles_off, 1);
}

TEST(CheckRotatedHeads, Refuses) {
  const Floats heads;
  const auto of = [&](const RotarySpec& rotary, const HeadsOptions& options = {}) {
    return [=] { heads.checked(rotary, options); };
  };
  const HeadsTable table = heads.table(heads.before);
  HeadsTable narrower = table;
  narrower.sizes[2] = 32;
  const std::vector<std::int64_t> few = {1, 2};
  const std::vector<float> zeros(heads.before.size());
  expect_refused({
      {"(96, 8, 64) before and (96, 8, 32)", [&] { check::heads(table, narrower, usual); }},
      {"at least 128 channels", of(with_rule({}, 128))},
      {"positions has 2 values; allowed: 96", of(usual, {.positions = RowPositions(few)})},
      {"max_error is -1", of(usual, {.max_error = -1})},
      {"only zeros", [&] { check::heads(heads.table(zeros), heads.table(zeros), usual); }},
      {"threads is 0", of(usual, {.threads = 0})},
  });
}

TEST(CheckRotatedHeads, RightHeadsOfAnyShapeAreGood) {
  for (const std::int64_t rows : {1, 2, 3, 7, 40})
    for (const std::int64_t heads : {1, 2, 3, 40})
      for (const std::int64_t channels : {64, 128})
        for (const RotaryLayout layout : {RotaryLayout::halves, RotaryLayout::interleaved}) {
          const RotarySpec rotary = rotary_spec({.d_model = 64}, layout);
          expect_good(Floats(channels, rows, heads)
                          .turned(rotary, RowRange{5, rows})
                          .checked(rotary, {.first = 5}));
        }
}

TEST(CheckHeadMistakes, OtherDistancesOfPairs) {
  // Gemma 4: pairs (k, 256 + k) of 512 channels, of which the first 64 turn.
  const RotarySpec gemma = with_rule(ProportionalScaling{.turned = 64}, 512, 1e6);
  const Floats heads(512);
  expect_good(heads.turned(gemma).checked(gemma));
  expect_cause(heads.turned(turns_of(1e6, 512), 64, 64).checked(gemma),
               {"wrong: the angles are right, but not the channels",
                "the pairs of channels are (k, 64 + k), halves, not (k, 256 + k), halves, which "
                "explains 100 % of what turns of the claimed pairs do not"});
  // The exponents are those of the block, too.
  expect_cause(heads.turned(turns_of(1e6, 128), 64, 64).checked(gemma),
               {"(k, 64 + k), halves, not (k, 256 + k), halves",
                "the exponents are -2k / 128, not -2k / 512, which explains"});
  // Half of the channels are turned, in pairs (k, 32 + k) of the head.
  expect_cause(Floats().turned(turns_of(1e4, 32), 16).checked(with_rule({}, 32)),
               {"wrong: the angles are right, but not the channels",
                "the pairs of channels are (k, 32 + k), halves, not (k, 16 + k)"});
}

TEST(CheckHeadMistakes, LatentChannelsAtTheWrongPlace) {
  const RotarySpec latent = rotary_spec({.d_model = 64}, RotaryLayout::interleaved);
  const Floats heads(192), right = heads.turned(latent, {}, 128);
  expect_good(right.checked(latent, {.offset = 128}));
  expect_cause(heads.turned(latent).checked(latent, {.offset = 128}),
               {"the pairs of channels are (2k, 2k + 1), interleaved, not (128 + 2k, 2k + 129)"});
  expect_cause(right.checked(latent), {"(128 + 2k, 2k + 129), interleaved, not (2k, 2k + 1)"});
  expect_cause(heads.turned(latent).checked(usual),
               {"the pairs of channels are (2k, 2k + 1), interleaved, not (k, 32 + k), halves"});
}

TEST(CheckHeadMistakes, TwoConventionsMixed) {
  // rotate_half with a cache whose cosines stand side by side, and the reverse.
  Floats halves, interleaved;
  const Kernel exact = turns_of(1e4, 64);
  for (std::int64_t row = 0; row < 96; ++row) {
    for (std::int64_t k = 0; k < 32; ++k) {
      halves.turn(row, k, 32 + k, exact(row, k / 2), exact(row, (32 + k) / 2));
      interleaved.turn(row, 2 * k, 2 * k + 1, exact(row, 2 * k % 32), exact(row, (2 * k + 1) % 32));
    }
  }
  expect_cause(halves.checked(usual),
               {"two conventions are mixed: the pairs of channels are (k, 32 + k), halves, but "
                "each channel turns by its angle in (2k, 2k + 1), interleaved, which explains 100 "
                "%"});
  expect_cause(interleaved.checked(usual),
               {"mixed: the pairs of channels are (2k, 2k + 1), interleaved, but"});
}

TEST(CheckHeadMistakes, TurnedShareTwiceOrNever) {
  for (const auto& [dimension, said] :
       {std::pair(8, "the dimension is 8, not 16, as if the turned share were applied twice"),
        {32,
         "more channels are changed than 16: they have a larger dimension, 32, as if the turned "
         "share were ignored"}})
    expect_cause(Floats(32).turned(with_rule({}, dimension)).checked(with_rule({}, 16)),
                 {said, "wrong: the angles are right"});
}

TEST(CheckHeadMistakes, FrequenciesAndFactors) {
  const YarnScaling yarn = {.factor = 8, .attention_factor = 1};
  YarnScaling not_rounded = yarn;
  not_rounded.truncate = false;
  // With beta_fast 1 and beta_slow 32, the ramp runs from the slow frequencies to the fast ones.
  const auto index = [](double beta) {
    return 32 * std::log(4096 / (beta * 2 * std::numbers::pi)) / std::log(1e4);
  };
  const double low = std::max(std::floor(index(1)), 0.0), high = std::ceil(index(32));
  OwnFrequencies exchanged;
  for (std::int64_t k = 0; k < 32; ++k) {
    const double ramp = std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0);
    exchanged.values.push_back(frequency(1e4, k) * (ramp / 8 + 1 - ramp));
  }
  const std::string missing = "is missing: frequencies are those of the base, which explains 100 %";
  const auto with_factor = [](double yarn_factor, double attention_factor) {
    RotarySpec rotary = with_rule(YarnScaling{.factor = yarn_factor, .attention_factor = 1});
    rotary.attention_factor = attention_factor;
    return rotary;
  };
  const struct {
    RotarySpec actual, claimed;
    std::string said;
  } cases[] = {
      {usual, with_rule(yarn), missing},
      {usual, with_rule(LinearScaling{8}), missing},
      {usual, with_rule(LongRopeScaling{std::vector<double>(32, 3.0), 1.0}), missing},
      {with_rule(yarn), with_rule(not_rounded),
       "the bounds of YaRN's ramp are rounded, which explains"},
      {with_rule(exchanged), with_rule(yarn),
       "beta_fast and beta_slow of YaRN are exchanged, which explains 100 %"},
      {with_rule(LinearScaling{16}), with_rule(LinearScaling{4}),
       "the factor 4 of the rule is applied twice"},
      {with_rule(LinearScaling{0.25}), with_rule(LinearScaling{4}),
       "the factor 4 multiplies the positions instead of dividing them"},
      {with_rule(LinearScaling{2}), usual, "each angle is halved, as if positions were halved"},
      {usual, with_rule({}, 64, 5e5), "the base is 10000, not 500000, which explains 100 %"},
      {with_rule({}, 64, 7654), with_rule({}, 64, 5e5), "the base is 7654"},
      {with_factor(128, 1.4852 * 1.4852), with_factor(128, 1.4852),
       "the attention factor is squared: the attention factor is 2.20582, not 1.4852, which "
       "explains 100 % of the angles that are off"},
      {with_factor(128, 1), with_factor(128, 1.4852), "the attention factor 1.4852 is missing"},
      {with_factor(4, 0.2 * std::log(4) + 1), with_factor(4, 0.1 * std::log(4) + 1),
       "the logarithm in YaRN's attention factor is applied twice: the attention factor is "
       "1.27726, not 1.13863"},
      {with_factor(40, 0.1 * std::log(40) + 1), with_factor(40, 1),
       "the attention factor is the one that YaRN computes: the attention factor is 1.36889, not "
       "1"},
      {with_factor(40, 1.6), with_factor(40, 1.5),
       "the attention factor is 1.6, not 1.5, which explains 100 %"},
  };
  for (const auto& [actual, claimed, said] : cases)
    expect_cause(Floats().turned(actual).checked(claimed), {said});
}

TEST(CheckHeadMistakes, Positions) {
  const RotarySpec rotary = with_rule({}, 64, 5e5);
  std::vector<std::int64_t> rows(96), gathered;
  std::iota(rows.begin(), rows.end(), 0);
  for (const std::int64_t row : rows) gathered.push_back(row * 37 % 101);
  const struct {
    std::int64_t first;  ///< the claimed position of row 0
    std::function<std::int64_t(std::int64_t)> position;
    const char* said;
  } cases[] = {
      {0, [](auto row) { return 2 * row; }, "each angle is doubled: the positions are doubled"},
      {1000, [](auto row) { return 1000 + 2 * row; }, "in steps that are doubled"},
      {1000, std::identity(), "positions are counted from 0"},
      {0, [](auto row) { return row - 130000; }, "the first row is position -130000, not 0"},
      {1000, [](auto row) { return 1001 + row; }, "the first row is position 1001, not 1000"},
      {0, std::negate(), "the sines are negated"},
      {1000, [](auto) { return 1000; }, "all rows have the position of the first row"},
      {1000, [](auto row) { return 1095 - row; }, "in reversed order"},
  };
  for (const auto& [first, position, said] : cases) {
    std::vector<std::int64_t> positions;
    std::ranges::transform(rows, std::back_inserter(positions), position);
    expect_cause(Floats().turned(rotary, positions).checked(rotary, {.first = first}),
                 {said, "explains 100 %"});
  }
  expect_cause(Floats().turned(rotary, rows).checked(rotary, {.positions = RowPositions(gathered)}),
               {"the positions are the numbers of the rows"});
}

TEST(CheckHeadMistakes, Axes) {
  const EncodingSpec spec = {.d_model = 128, .base = 1e6};
  const RotarySpec sections = {.angles = axes_in_sections({24, 20, 20}, spec)},
                   interleaved = {.angles = axes_interleaved({24, 20, 20}, spec)};

  const std::vector<std::int64_t> cells = grid_positions({2, 6, 8});
  const RowPositions on_axes(cells.data(), 3, 96, 96);
  const HeadsOptions options = {.positions = on_axes};
  const Floats heads(128), right = heads.turned(sections, on_axes);
  expect_good(right.checked(sections, options));
  expect_cause(right.checked(interleaved, options),
               {"the axes are in sections of 24, 20, 20 pairs, not interleaved, of 24, 20, 20 "
                "pairs, which explains 100 %"});
  expect_cause(heads.turned(interleaved, on_axes).checked(sections, options),
               {"the axes are interleaved, of 24, 20, 20 pairs, not in sections of"});
  expect_cause(heads.turned({.angles = one_axis(spec)}, on_axes.list(0)).checked(sections, options),
               {"all pairs turn by axis 0"});
  // Sections of height and width are exchanged.
  RotarySpec exchanged = sections;
  std::swap(exchanged.angles.parts[1].axis, exchanged.angles.parts[2].axis);
  expect_cause(heads.turned(exchanged, on_axes).checked(sections, options),
               {"pairs 44 .. 63 turn by axis 1, not 2, pairs 24 .. 43 turn by axis 2, not 1"});
}

TEST(CheckHeadMistakes, HalvesInTheBlockOfEachAxis) {
  const std::vector<std::int64_t> cells = grid_positions({12, 8});
  for (const bool is_width_first : {false, true}) {
    RotarySpec claimed = {.angles = axes_in_blocks({32, 32}, {})};
    if (is_width_first) std::swap(claimed.angles.parts[0].axis, claimed.angles.parts[1].axis);
    Floats heads;
    for (std::int64_t row = 0; row < 96; ++row)
      for (std::int64_t block = 0; block < 2; ++block)
        for (std::int64_t k = 0; k < 16; ++k) {
          const bool is_width = (block == 1) != is_width_first;
          const Complex by = turns_of(1e4, 32)(is_width ? row % 8 : row / 8, k);
          heads.turn(row, 32 * block + k, 32 * block + 16 + k, by, by);
        }
    expect_cause(heads.checked(claimed, {.positions = RowPositions(cells.data(), 2, 96, 96)}),
                 {"the pairs of channels are (k, n + k) in the block of each axis, whose n pairs "
                  "are halves, not (k, 32 + k), halves"});
  }
}

TEST(CheckHeadMistakes, SeveralAtOnce) {
  // A rule is missing, the sines are negated, and the attention factor is missing.
  const HeadsReport report =
      Floats()
          .turned([](auto row, auto k) { return std::conj(turns_of(1e4, 64)(row, k)); })
          .checked(with_rule(YarnScaling{.factor = 16}));
  EXPECT_EQ(report.causes.size(), 3U) << to_string(report);
  expect_cause(report, {"frequencies are those of the base; and the sines are negated",
                        "the attention factor 1.27726 is missing, which together explains 100 %"});
}

TEST(CheckHeadMistakes, UnrecognisedHeadsTakeNoLongTime) {
  const RotarySpec rotary = with_rule(YarnScaling{.factor = 4}, 128, 1e6);
  const Floats heads(128, 128, 32), right = heads.turned(rotary);
  Floats noise = heads;
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  for (float& each : noise.after) each = normal(random);
  // They are timed in turn, because other programs may disturb the times.
  double of_right = 1e9, of_noise = 1e9;
  for (int i = 0; i < 10; ++i) {
    for (const auto& [turned, least] : {std::pair(&right, &of_right), {&noise, &of_noise}}) {
      const auto start = std::chrono::steady_clock::now();
      turned->checked(rotary);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      *least = std::min(*least, time.count());
    }
  }
  EXPECT_LT(of_noise, 4 * of_right);  // the ratio was 1.8
}

TEST(CheckHeadMistakes, SaysWhatWasMeasuredIfNoCauseIsKnown) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(0, 6.28);
  Floats heads = Floats().turned([&](auto, auto) { return std::polar(1.0, any(random)); });
  const HeadsReport noise = heads.checked(usual);
  EXPECT_THAT(noise.causes, IsEmpty()) << to_string(noise);
  expect_cause(noise, {"pairs 0 .. 31 are not turned evenly"});
  // The elements have nothing to do with one another.
  for (float& each : heads.after) each = static_cast<float>(any(random));
  const HeadsReport unlike = heads.checked(usual);
  EXPECT_THAT(unlike.causes, IsEmpty()) << to_string(unlike);
  expect_cause(unlike, {"of the squared elements unexplained"});
  // One pair turns too fast.
  expect_cause(Floats()
                   .turned([](auto row, auto k) {
                     return std::polar(
                         1.0, (k == 5 ? 1.5 : 1) * static_cast<double>(row) * frequency(1e4, k));
                   })
                   .checked(usual),
               {"pair 5 is off, the other 31 right", "found: pair 5 turns by 0.355"});
}

}  // namespace
}  // namespace posenc::test
