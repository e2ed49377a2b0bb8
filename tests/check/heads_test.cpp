// posenc::check_rotated(): what it says of kernels, right ones and such as programs have.
#include "posenc/check/heads.h"

#include "../docs/examples/rotary_in_float32.h"
#include "support.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace posenc::test {

using namespace model;

using namespace check;
namespace {

constexpr std::int64_t rows = 300, heads_of_each_row = 8, channels = 64, dimension = 64;

/// What a kernel multiplies a pair by, in float32.
using Angle = std::function<std::complex<float>(std::int64_t position, std::int64_t k)>;

std::complex<float> exact(std::int64_t position, std::int64_t k) {
  const double frequency = std::pow(1e4, -2.0 * static_cast<double>(k) / dimension);
  const auto value = std::polar(1.0, static_cast<double>(position) * frequency);
  return {static_cast<float>(value.real()), static_cast<float>(value.imag())};
}

std::complex<float> with_float32_phases(std::int64_t position, std::int64_t k) {
  const float power = std::pow(1e4F, static_cast<float>(2 * k) / float{dimension});
  const float phase = static_cast<float>(position) * (1 / power);
  return {std::cos(phase), std::sin(phase)};
}

/// The channels of pair k: k and k + distance, or 2 k and 2 k + 1.
struct Pairs {
  RotaryLayout layout = RotaryLayout::halves;
  std::int64_t count = dimension / 2, distance = dimension / 2;
};

/// Random heads of shape (rows, heads, channels), and the same turned.
template <class T>
struct Turned {
  std::int64_t heads;  ///< of each row
  std::vector<T> before, after;

  Turned(const std::vector<std::int64_t>& positions, const Angle& angle, const Pairs& pairs = {},
         std::int64_t heads_of_a_row = heads_of_each_row)
      : heads(heads_of_a_row) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    const std::int64_t of_a_row = heads * channels;
    for (std::int64_t i = 0; i < std::ssize(positions) * of_a_row; ++i)
      before.push_back(nearest<T>(normal(random)));
    after = before;
    for (std::int64_t begin = 0; begin < std::ssize(before); begin += channels) {
      for (std::int64_t k = 0; k < pairs.count; ++k) {
        const bool is_halves = pairs.layout == RotaryLayout::halves;
        const auto i = static_cast<std::size_t>(begin + (is_halves ? k : 2 * k)),
                   j = i + static_cast<std::size_t>(is_halves ? pairs.distance : 1);
        const auto a = static_cast<float>(to_double(before[i])),
                   b = static_cast<float>(to_double(before[j]));
        const std::complex<float> turn =
            angle(positions[static_cast<std::size_t>(begin / of_a_row)], k);
        after[i] = nearest<T>(to_double(a * turn.real() - b * turn.imag()));
        after[j] = nearest<T>(to_double(b * turn.real() + a * turn.imag()));
      }
    }
  }

  HeadsTable table(const std::vector<T>& heads_of_rows) const {
    const std::int64_t count = std::ssize(heads_of_rows) / (heads * channels);
    return {heads_of_rows.data(),
            data_type_of<T>,
            {count, heads, channels},
            {heads * channels, channels, 1}};
  }
  check::HeadsReport checked(const RotarySpec& rotary, const check::HeadsOptions& options) const {
    return check::heads(table(before), table(after), rotary, options);
  }
};

std::vector<std::int64_t> run_of(std::int64_t first) { return positions_of({first, rows}); }

const RotarySpec base_10000 = rotary_spec({.d_model = dimension});

template <class T>
class CheckRotated : public testing::Test {};
using Types = testing::Types<float, Float16, BFloat16>;
TYPED_TEST_SUITE(CheckRotated, Types, );

TYPED_TEST(CheckRotated, AcceptsRightKernelsAndKnowsTheirNoise) {
  for (const RotaryLayout layout : {RotaryLayout::halves, RotaryLayout::interleaved}) {
    for (const std::int64_t first : {std::int64_t{0}, 131072 - rows}) {
      RotarySpec rotary = base_10000;
      rotary.channels = layout;
      const auto report =
          Turned<TypeParam>(run_of(first), exact, {layout}).checked(rotary, {.first = first});
      EXPECT_TRUE(report.is_good) << to_string(report);
      EXPECT_THAT(report.causes, IsEmpty());
      // Cosines and sines are rounded to float32, besides.
      EXPECT_LT(report.errors.rms, 1.2 * report.errors.noise + 1.3e-8);
      EXPECT_GT(report.errors.rms, 0.8 * report.errors.noise);
      EXPECT_EQ(report.errors.count, rows * dimension / 2);
    }
  }
}

TYPED_TEST(CheckRotated, NamesWhatIsWrong) {
  const std::int64_t first = 131072 - rows;
  const auto rounded_to_16_bits = [](std::int64_t position, std::int64_t k) {
    const std::complex<float> value = exact(position, k);
    const auto narrow = [](float x) { return static_cast<float>(to_double(nearest<BFloat16>(x))); };
    return std::complex(narrow(value.real()), narrow(value.imag()));
  };
  const RotarySpec llama = rotary_spec({.d_model = dimension, .frequencies = Llama3Scaling{}});
  const struct {
    Angle angle;
    RotarySpec rotary;
    const char* cause;
    RotaryLayout layout = RotaryLayout::halves;
  } kernels[] = {
      {with_float32_phases, base_10000, "phases in float32"},
      {exact, base_10000, "the pairs of channels are (2k, 2k + 1)", RotaryLayout::interleaved},
      {exact, llama, "is missing: frequencies are those of the base"},
      {[](auto position, auto k) { return exact(position + 1, k); }, base_10000,
       "the first row is position 130773, not 130772"},
      {[](auto position, auto k) { return std::conj(exact(position, k)); }, base_10000,
       "the sines are negated"},
      {[](auto position, auto k) { return 1.25F * exact(position, k); }, base_10000,
       "every entry is multiplied by 1.2"},
      {[](auto, auto) { return std::complex(1.0F); }, base_10000, "nothing is turned"},
      {rounded_to_16_bits, base_10000, "cosines and sines in bfloat16"},
  };
  for (const auto& each : kernels) {
    const Turned<TypeParam> turned(run_of(first), each.angle, {each.layout});
    const auto report = turned.checked(each.rotary, {.first = first});
    EXPECT_FALSE(report.is_good) << each.cause;
    EXPECT_THAT(to_string(report), HasSubstr(each.cause));
  }
}

std::complex<float> of_the_recipe(std::int64_t position, std::int64_t k) {
  const auto frequency = rotary_in_float32::frequency(10000, dimension, static_cast<int>(k));
  const auto turn = rotary_in_float32::rotation_at(static_cast<std::uint64_t>(position), frequency);
  return {turn.cosine, turn.sine};
}

TEST(CheckRotatedHeads, FarPositionsShowFloat32Phases) {
  const std::vector<std::int64_t> positions = {0, 1, 40, 2048, 65536, 131071, 1048576, 2147483648};
  const check::HeadsOptions options = {.positions = RowPositions(positions), .max_error = 2e-7};
  for (const auto kernel : {exact, of_the_recipe}) {
    const auto right = Turned<float>(positions, kernel).checked(base_10000, options);
    EXPECT_TRUE(right.is_good) << to_string(right);
  }
  const auto wrong = Turned<float>(positions, with_float32_phases).checked(base_10000, options);
  EXPECT_THAT(to_string(wrong), HasSubstr("phases in float32"));
  ASSERT_EQ(wrong.by_position.size(), 8U - 1);  // 65536 and 131071 are in one octave
  EXPECT_LT(wrong.by_position[2].errors.max, 1e-5);
  EXPECT_GT(wrong.by_position[6].errors.max, 0.1);
}

TEST(CheckRotatedHeads, NamesTheAxisOfPairs) {
  RotarySpec rotary = {.angles = axes_in_sections({{16, 16}}, {.d_model = dimension})};
  std::vector<std::int64_t> positions(2 * rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    positions[static_cast<std::size_t>(row)] = row / 16;
    positions[static_cast<std::size_t>(rows + row)] = row % 16;
  }
  const check::HeadsOptions options = {.positions = RowPositions(positions.data(), 2, rows, rows)};
  const auto at_axis = [](bool is_exchanged) {
    return [=](std::int64_t row, std::int64_t k) {
      return exact((k < 16) != is_exchanged ? row / 16 : row % 16, k);
    };
  };
  EXPECT_TRUE(Turned<float>(run_of(0), at_axis(false)).checked(rotary, options).is_good);
  const auto report = Turned<float>(run_of(0), at_axis(true)).checked(rotary, options);
  EXPECT_THAT(to_string(report), HasSubstr("pairs 0 .. 15 turn by axis 1, not 0"));
}

TEST(CheckRotatedHeads, NamesPairsAtTheDistanceOfTheWholeHead) {
  // Half of the channels are turned, in pairs (k, 32 + k) of the head.
  const auto of_half = [](std::int64_t position, std::int64_t k) { return exact(position, 2 * k); };
  const Turned<float> turned(run_of(0), of_half, {.count = dimension / 4});
  const std::string said = to_string(turned.checked(rotary_spec({.d_model = dimension / 2}), {}));
  EXPECT_THAT(said, HasSubstr("wrong: the angles are right, but not the channels"));
  EXPECT_THAT(said, HasSubstr("the pairs of channels are (k, 32 + k), halves, not (k, 16 + k)"));
}

TEST(CheckRotatedHeads, AnglesBelowAnUlpMayStickToTheirInput) {
  const RotarySpec rotary = rotary_spec({.d_model = dimension, .base = 5e5});
  const auto up_to = [](std::int64_t pairs) {
    return [=](std::int64_t row, std::int64_t k) {
      const double frequency = std::pow(5e5, -2.0 * static_cast<double>(k) / dimension);
      const auto turn = std::polar(1.0, k < pairs ? static_cast<double>(row) * frequency : 0);
      return std::complex<float>(turn);
    };
  };
  for (const int count : {64, 256}) {
    const auto right = Turned<BFloat16>(run_of(0), up_to(32), {}, count).checked(rotary, {});
    EXPECT_TRUE(right.is_good) << count << " heads: " << to_string(right);
    const auto wrong = Turned<BFloat16>(run_of(0), up_to(12), {}, count).checked(rotary, {});
    EXPECT_THAT(to_string(wrong), HasSubstr("found: pairs 12 .. "));
  }
}

TEST(CheckRotatedHeads, ReadsTransposedHeadsAndPartsOfThem) {
  const Turned<float> turned(run_of(0), exact);
  HeadsTable before = turned.table(turned.before), after = turned.table(turned.after);
  for (HeadsTable* const each : {&before, &after}) {
    std::swap(each->sizes[0], each->sizes[1]);
    std::swap(each->strides[0], each->strides[1]);
  }
  EXPECT_TRUE(check::heads(before, after, base_10000).is_good);
  // More channels are turned than they say.
  const auto report = check::heads(before, after, rotary_spec({.d_model = 32}));
  EXPECT_THAT(to_string(report),
              HasSubstr("more channels are changed than 32: they have a larger dimension"));
  // NaN is wrong, and so is a number in the place of zero.
  Turned<float> broken = turned;
  broken.after[5000] = std::nanf("");
  const auto not_finite = broken.checked(base_10000, {});
  EXPECT_EQ(not_finite.angles_off, 1);
  EXPECT_THAT(to_string(not_finite), HasSubstr("heads have NaN or infinity, the first in row 9"));
  std::ranges::fill(broken.before, 0.0F);
  EXPECT_FALSE(broken.checked(base_10000, {}).is_good);
}

/// One row of one head.
HeadsTable head_of(const float (&pair)[2]) {
  return {pair, DataType::float32, {1, 1, 2}, {2, 2, 1}};
}

TEST(CheckRotatedHeads, OneTurnHasItsErrors) {
  constexpr float before[] = {1, 0};
  const float after[] = {std::cos(1 + 1e-3F), std::sin(1 + 1e-3F)};
  const auto report =
      check::heads(head_of(before), head_of(after), rotary_spec({.d_model = 2}), {.first = 1});
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
    const float before[] = {1, 0}, after[] = {1, static_cast<float>(angle)};
    return check::heads(head_of(before), head_of(after), rotary_spec({.d_model = 2}),
                        {.max_error = allowed});
  };
  // Of products, a sum and the result, each rounded by 0.42 halves of an ulp.
  const double noise = turned_by(0).errors.noise;
  EXPECT_NEAR(noise, 0.42 * std::sqrt(3) * 0x1p-25, 1e-12);
  EXPECT_EQ(turned_by(allowed + 5.9 * noise).angles_off, 0);
  EXPECT_EQ(turned_by(allowed + 6.1 * noise).angles_off, 1);
}

TEST(CheckRotatedHeads, Refuses) {
  const Turned<float> turned(run_of(0), exact);
  const HeadsTable before = turned.table(turned.before), after = turned.table(turned.after);
  const auto of = [&](const HeadsTable& turned_to, const RotarySpec& rotary,
                      const check::HeadsOptions& options = {}) {
    return [=] { check::heads(before, turned_to, rotary, options); };
  };
  HeadsTable narrower = after;
  narrower.sizes[2] = 32;
  const std::vector<std::int64_t> few = {1, 2};
  const std::vector<float> zeros(turned.before.size());
  expect_refused({
      {"(300, 8, 64) before and (300, 8, 32)", of(narrower, base_10000)},
      {"at least 128 channels", of(after, rotary_spec({.d_model = 128}))},
      {"positions has 2 values; allowed: 300",
       of(after, base_10000, {.positions = RowPositions(few)})},
      {"max_error is -1", of(after, base_10000, {.max_error = -1})},
      {"only zeros", [&] { check::heads(turned.table(zeros), turned.table(zeros), base_10000); }},
      {"threads is 0", of(after, base_10000, {.threads = 0})},
  });
}

}  // namespace
}  // namespace posenc::test
