// The errors of rotation before rounding (float32 and float64), of the values between its bounds of
// 16-bit types, and of rotation32, against the terms of their bounds (error_bounds.h): each term at
// its worst inputs, and whole tables. Each measurement must stay below its bound. For a term, it
// must also exceed half of the bound, so that a bound that is twice as large as needed fails too.
#include "posenc/simd/error_bounds.h"

#include "posenc/backends/constants.h"
#include "posenc/cpu.h"
#include "posenc/simd/compiled_isas.h"
#include "posenc/simd/dispatch.h"
#include "posenc/spec.h"
#include "posenc/suite/reference.h"
#include "simd/unrounded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace posenc {
namespace simd {

#define POSENC_DECLARE_UNROUNDED(isa) const UnroundedKernels& isa##_unrounded() noexcept;
POSENC_FOR_EACH_ISA(POSENC_DECLARE_UNROUNDED)

std::vector<IsaUnroundedKernels> unrounded_kernels() {
#define POSENC_ISA_UNROUNDED(isa) {Isa::isa, isa##_unrounded()},
  const std::vector<IsaUnroundedKernels> all = {POSENC_FOR_EACH_ISA(POSENC_ISA_UNROUNDED)};
  std::vector<IsaUnroundedKernels> running;
  std::copy_if(all.begin(), all.end(), std::back_inserter(running),
               [](const IsaUnroundedKernels& each) { return cpu_has(each.isa); });
  return running;
}

}  // namespace simd

namespace {

using simd::RotationError;

constexpr long double unit = simd::double_roundoff;

long double to_long_double(const ExactValue<>& value) {
  const auto [leading, rest] = suite::split(value);
  return leading + rest;
}

const simd::Kernels& kernels_of(Isa isa) {
  for (const simd::IsaKernels& each : simd::compiled_kernels()) {
    if (each.isa == isa) return each.kernels;
  }
  return simd::compiled_kernels().front().kernels;
}

/// Prints a measurement and its bound in every run, to show the margin between them.
void show(const std::string& what, long double measured, double bound) {
  std::printf("%-44s %8.2Lf of %7.2f units\n", what.c_str(), measured, bound);
}

void expect_tight(const std::string& what, long double measured, double bound) {
  show(what, measured, bound);
  EXPECT_LE(measured, bound) << what;
  EXPECT_GT(measured, bound / 2) << what << ": the bound is more than twice what can be reached";
}

/// The largest error of 2 cos(w), a doubled anchor, in units: the rounding of cos(w), and the
/// errors of a polynomial in w^2 that is rounded a few times. Above pi / 4, the bound of any
/// anchor.
long double multiplier_error(long double w) {
  return w <= 0.785L ? 1 + 8 * w * w : 2 * RotationError::anchor_cosine;
}

class RotationErrors : public testing::TestWithParam<simd::IsaUnroundedKernels> {
 protected:
  void SetUp() override {
    if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double";
  }
  const simd::UnroundedKernels& kernels() const { return GetParam().kernels; }
  RotationError error() const { return {kernels().fused_rounds_once}; }
};

struct DifficultTable {
  EncodingSpec spec;
  std::int64_t first;
};

/// All frequencies near 1, tiny sines, sines below float's subnormals, phases of very many turns,
/// the last positions, and widths that are no multiple of a panel's or a vector's.
std::vector<DifficultTable> difficult_tables(std::int64_t rows) {
  constexpr Layout interleaved = Layout::interleaved, halves = Layout::halves;
  return {{{512}, 1},
          {{512}, max_position - rows},
          {{514, 1.0000001}, 1000},
          {{512, 3.0, halves}, 354},
          {{96, 1e10, halves}, 1},
          {{98, 1e60, interleaved, Spacing::inclusive}, 1},
          {{514, 1e4, halves, Spacing::inclusive}, 1'000'000'000'000}};
}

struct Entry {
  std::int64_t first, row, k;  ///< the position of row 0, the row, and the frequency
  std::size_t index;           ///< in the table
  bool is_sine;
  ExactValue<> exact;
};

/// Calls visit(entry) for the entries of a table.
template <class Visit>
void for_each_entry(const DifficultTable& table, std::int64_t rows, const Visit& visit) {
  const Frequencies frequencies(table.spec);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < frequencies.count(); ++k) {
      const Turns phase = frequencies.phase(k, table.first + row);
      const ChannelPair channel = channels_of(table.spec, k);
      for (const bool is_sine : {true, false}) {
        const std::int64_t column = is_sine ? channel.sine : channel.cosine;
        visit(Entry{table.first, row, k,
                    static_cast<std::size_t>(row * table.spec.d_model + column), is_sine,
                    is_sine ? sine(phase) : cosine(phase)});
      }
    }
  }
}

/// Prints the largest error of tables. It must be below the bound, and above what shows that the
/// comparison can see an error.
void expect_within(const std::string& what, long double measured, double bound, double visible) {
  show(what, measured, bound);
  EXPECT_LE(measured, bound) << what;
  EXPECT_GT(measured, visible) << what << ": the comparison must be able to see an error";
}

/// Frequencies of either sign, up to many turns a position.
EncodingSpec spec_of_own_frequencies() {
  OwnFrequencies own;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-30, 32);
  for (int k = 0; k < 256; ++k)
    own.values.push_back((k % 2 == 0 ? 1 : -1) * std::exp2(exponent(random)));
  return {.d_model = 512, .frequencies = own};
}

/// Anchors of many frequencies at many positions. The errors of sines are relative.
TEST_P(RotationErrors, OfAnchors) {
  std::mt19937_64 random(1);
  // The last two positions of one way to reduce a phase, and the first two of the other.
  std::vector<std::uint64_t> positions = {0xfffffffe, 0xffffffff, 0x100000000, 0x100000001};
  while (positions.size() < 3000) positions.push_back((random() >> 11) >> (random() % 53));
  long double worst_sine = 0, worst_cosine = 0;
  for (const EncodingSpec& spec :
       {EncodingSpec{.d_model = 512, .base = 1.01}, spec_of_own_frequencies()}) {
    const Frequencies frequencies(spec);
    const RotationConstants constants(frequencies, kernels_of(GetParam().isa));
    std::vector<double> sines(constants.radians.size()), cosines(sines.size());
    for (const std::uint64_t position : positions) {
      kernels_of(GetParam().isa)
          .anchors(constants.turns.padded_count(), constants.turns.arrays(), position, sines.data(),
                   cosines.data());
      for (std::int64_t k = 0; k < frequencies.count(); ++k) {
        const Turns phase = frequencies.phase(k, static_cast<std::int64_t>(position));
        const auto at = static_cast<std::size_t>(k);
        const long double exact_sine = to_long_double(sine(phase)),
                          exact_cosine = to_long_double(cosine(phase));
        const long double sine_error =
            std::fabs(sines[at] - exact_sine) - RotationError::truncation;
        worst_sine = std::max(worst_sine, sine_error / std::fabs(exact_sine));
        worst_cosine = std::max(worst_cosine, std::fabs(cosines[at] - exact_cosine));
      }
    }
  }
  expect_tight("anchor, cosine", worst_cosine / unit, RotationError::anchor_cosine);
  expect_tight("anchor, sine, relative", worst_sine / unit, RotationError::anchor_sine);
}

/// The same in every rounding mode of the processor. In a directed one, each rounding may be off by
/// an ulp, not half an ulp.
TEST_P(RotationErrors, OfAnchorsInEveryRoundingMode) {
  const Frequencies frequencies(EncodingSpec{512});
  const FrequencyTables tables(frequencies);
  std::vector<double> sines(static_cast<std::size_t>(tables.padded_count())), cosines = sines;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (std::uint64_t position = 1; position < std::uint64_t{1} << 53; position *= 3) {
      ASSERT_EQ(std::fesetround(mode), 0);
      kernels_of(GetParam().isa)
          .anchors(tables.padded_count(), tables.arrays(), position, sines.data(), cosines.data());
      ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
      for (std::int64_t k = 0; k < frequencies.count(); ++k) {
        const Turns phase = frequencies.phase(k, static_cast<std::int64_t>(position));
        const auto at = static_cast<std::size_t>(k);
        ASSERT_LE(std::fabs(sines[at] - to_long_double(sine(phase))), 0x1p-51L) << position;
        ASSERT_LE(std::fabs(cosines[at] - to_long_double(cosine(phase))), 0x1p-51L) << position;
      }
    }
  }
}

/// The rounding errors of one rotation; the constants count as exact. The values are just above a
/// power of two, where half an ulp is largest relative to them.
TEST_P(RotationErrors, OfARotation) {
  constexpr double largest = 0.502;
  long double worst = 0;
  std::mt19937_64 random(2);
  for (const double base : {1.0001, 1.01, 1e4}) {
    const EncodingSpec spec = {.d_model = 512, .base = base};
    const RotationConstants constants(Frequencies(spec), kernels_of(GetParam().isa));
    const simd::RotationTables tables = constants.tables(spec, DataType::float64);
    const auto count = static_cast<std::size_t>(constants.turns.padded_count());
    for (int i = 0; i < 2000; ++i) {
      std::vector<double> sines(count), cosines(count);
      std::uniform_real_distribution<double> angles(0, 6.283);
      for (std::size_t k = 0; k < count; ++k) {
        const double angle = angles(random);
        sines[k] = largest * std::sin(angle);
        cosines[k] = largest * std::cos(angle);
      }
      std::vector<double> s = sines, c = cosines;
      kernels().rotate(tables, constants.turns.padded_count(), s.data(), c.data());
      for (std::size_t k = 0; k < count; ++k) {
        const long double sine = sines[k], cosine = cosines[k];
        worst = std::max({worst,
                          std::fabs(s[k] - (sine * constants.block.cosine[k] +
                                            cosine * constants.block.sine[k])),
                          std::fabs(c[k] - (cosine * constants.block.cosine[k] -
                                            sine * constants.block.sine[k]))});
      }
    }
  }
  expect_tight("roundings of a rotation", worst / largest / unit,
               RotationError::rotation_roundings);
}

/// The growth of the errors of the steps, and of 2 cos(w), in a run: the largest sums over all w.
TEST_P(RotationErrors, OfTheRecurrence) {
  long double growth = 0, multiplier = 0;
  for (long double w = 1e-9L; w <= 1; w *= 1.001L) {
    const long double off = multiplier_error(w);
    long double sum = 0;
    for (int n = 1; n < simd::run_rows; ++n) sum += std::fabs(std::sin(n * w) / std::sin(w));
    growth = std::max(growth, sum);
    multiplier = std::max(multiplier, off * sum);
  }
  expect_tight("growth over a run", growth, RotationError::growth);
  expect_tight("errors of 2 cos(w) over a run", multiplier,
               RotationError::growth * RotationError::multiplier);
}

/// The errors of 2 cos(w), which OfTheRecurrence assumes.
TEST_P(RotationErrors, OfTheMultiplier) {
  long double excess = -1, worst = 0;
  for (const double base : {1.00001, 1.5, 10.0, 1e3, 1e4, 1e6}) {
    const EncodingSpec spec = {.d_model = 8192, .base = base};
    const Frequencies frequencies(spec);
    const RotationConstants constants(frequencies, kernels_of(GetParam().isa));
    for (std::int64_t k = 0; k < frequencies.count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const long double w = constants.radians[at];
      const long double off =
          2 * std::fabs(constants.row.cosine[at] - to_long_double(cosine(frequencies[k]))) / unit;
      excess = std::max(excess, off - multiplier_error(w));
      worst = std::max(worst, off);
    }
  }
  show("2 cos(w), any w", worst, 2 * RotationError::anchor_cosine);
  EXPECT_LE(excess, 0) << "2 cos(w) is off by more than assumed";
  EXPECT_GT(worst, 1) << "the comparison must be able to see an error";
}

/// The largest error(value, entry, w) of tables that write(tables, task) writes; w is the
/// frequency.
template <class T, class Write, class Error>
long double worst_of_tables(Isa isa, std::int64_t rows, const Write& write, const Error& error) {
  long double worst = 0;
  for (const DifficultTable& each : difficult_tables(rows)) {
    const RotationConstants constants(Frequencies(each.spec), kernels_of(isa));
    std::vector<T> table(static_cast<std::size_t>(rows * each.spec.d_model));
    write(constants.tables(each.spec, sizeof(T) == 8 ? DataType::float64 : DataType::float16),
          {each.first, rows, table.data(), each.spec.d_model, data_type_of<T>});
    for_each_entry(each, rows, [&](const Entry& entry) {
      const long double w = constants.radians[static_cast<std::size_t>(entry.k)];
      worst = std::max(worst, error(table[entry.index], entry, w));
    });
  }
  return worst;
}

/// Whole tables of many blocks after an anchor. The bound is that of the block's last position.
TEST_P(RotationErrors, OfTables) {
  constexpr std::int64_t rows = simd::block_rows * simd::anchored_blocks + 40;
  const long double worst = worst_of_tables<double>(
      GetParam().isa, rows, kernels().rows, [&](double value, const Entry& entry, long double w) {
        const std::int64_t block_end = (entry.row / simd::block_rows + 1) * simd::block_rows,
                           last = entry.first + std::min(rows, block_end);
        const long double largest = entry.is_sine ? std::min(1.0L, w * last) : 1;
        return (std::fabs(value - to_long_double(entry.exact)) - RotationError::truncation) /
               largest;
      });
  expect_within("tables", worst / unit, error().total(), RotationError::anchor);
}

/// The values between the bounds of 16-bit types, without the rounding of their last sum. Sines of
/// slow frequencies have smaller bounds.
TEST_P(RotationErrors, OfTablesOf16Bits) {
  constexpr std::int64_t rows = 2 * simd::paired_block_rows * simd::grouped_blocks + 40;
  const simd::RotationTo16BitsError bound = {kernels().fused_rounds_once};
  const long double worst = worst_of_tables<float>(
      GetParam().isa, rows, kernels().rows_to_16_bits,
      [](float value, const Entry& entry, long double w) {
        const std::int64_t block = (entry.first + entry.row) / simd::paired_block_rows,
                           last = (block + 1) * simd::paired_block_rows;
        const long double largest = entry.is_sine ? std::min(1.0L, 2 * w * last) : 1;
        // Half a unit in the last place, that of subnormals for 0.
        const int exponent = std::max(std::ilogb(value), FLT_MIN_EXP - 1);
        const long double last_rounding = std::ldexp(1.0L, exponent - FLT_MANT_DIG);
        return (std::fabs(value - to_long_double(entry.exact)) - last_rounding -
                RotationError::truncation) /
               largest;
      });
  expect_within("16-bit types: values between bounds", worst / simd::float_roundoff, bound.value(),
                0.5);
}

/// exact - high - low. The first difference is exact, because high has the upper bits of the value.
long double difference(const ExactValue<>& exact, double high, double low) {
  const auto [leading, rest] = suite::split(exact);
  return (leading - high - low) + rest;
}

/// The values of whole tables before they are rounded to float64, against the bound of their block.
TEST_P(RotationErrors, OfTablesOfFloat64) {
  constexpr std::int64_t rows = simd::float64_block_rows * (simd::float64_anchored_blocks + 2) + 5;
  constexpr long double unit64 = 0x1p-76L;
  constexpr simd::RotationToFloat64Error bound;
  std::vector<double> low;
  long double worst_share = 0;
  const auto write = [&](const simd::RotationTables& tables, const simd::RowTask& task) {
    low.resize(static_cast<std::size_t>(task.count * task.stride));
    kernels().rows_to_float64(tables, task, low.data());
  };
  const long double worst = worst_of_tables<double>(
      GetParam().isa, rows, write, [&](double high, const Entry& entry, long double) {
        const std::int64_t block = entry.row / simd::float64_block_rows;
        const bool is_short = entry.row >= rows - rows % simd::float64_block_rows;
        const long double truncation =
            simd::frequency_error * static_cast<long double>(entry.first + entry.row) / unit64;
        const long double error =
            std::fabs(difference(entry.exact, high, low[entry.index])) / unit64 - truncation;
        const double most = bound.total(is_short ? 0 : block % simd::float64_anchored_blocks);
        worst_share = std::max(worst_share, error / most);
        return error;
      });
  EXPECT_LE(worst_share, 1);
  expect_within("float64: values before rounding", worst,
                bound.total(simd::float64_anchored_blocks - 1), 1);
}

/// Values of type T from `least` to 1, within their error of a midpoint, are uncertain. Those a
/// little farther from it are certain, and are rounded to its side.
template <class T, class Bits>
void expect_margins(const simd::UnroundedKernels& kernels, double error, double least) {
  const auto bits_of = [](double value) { return std::bit_cast<Bits>(nearest<T>(value)); };
  const auto value_of = [](Bits bits) { return to_double(std::bit_cast<T>(bits)); };
  const DataType type = data_type_of<T>;
  std::mt19937_64 random(4);
  std::uniform_int_distribution<Bits> any(bits_of(least), bits_of(1) - 1);
  for (int i = 0; i < 5000; ++i) {
    const Bits bits = any(random);
    SCOPED_TRACE(testing::Message() << to_string(type) << ", bits " << bits);
    const double below = value_of(bits), above = value_of(static_cast<Bits>(bits + 1));
    // The margin of float32 is up to twice the error, just above powers of two. The distances of
    // 16-bit types are whole units of 2^-16 ulp, two of which are uncertain.
    const double certain = sizeof(T) == 4 ? 2.2 * error : 2.5 * 0x1p-16 * (above - below);
    for (const double sign : {1.0, -1.0}) {
      const auto rounded = [&](double distance) {
        return kernels.round(sign * ((below + above) / 2 + distance), type);
      };
      for (const double distance : {-error, 0.0, error})
        ASSERT_FALSE(rounded(distance).is_certain) << distance;
      const Rounded down = rounded(-certain), up = rounded(certain);
      ASSERT_TRUE(down.is_certain && up.is_certain);
      ASSERT_EQ(static_cast<Bits>(down.bits), bits_of(sign * below));
      ASSERT_EQ(static_cast<Bits>(up.bits), bits_of(sign * above));
    }
  }
  // Of 16-bit types, no smaller value is certain.
  EXPECT_EQ(kernels.round(0.999 * least, type).is_certain, sizeof(T) == 4);
}

TEST_P(RotationErrors, AreWithinTheMarginOfWhatIsCertain) {
  const double bound = 0.999 * error().total() * simd::double_roundoff;
  expect_margins<float, std::uint32_t>(kernels(), bound, 0x1p-10);
  expect_margins<Float16, std::uint16_t>(kernels(), bound, 0x1p-14);
  expect_margins<BFloat16, std::uint16_t>(kernels(), bound, 0x1p-19);
}

/// Sines and cosines of centres, before the phase is rounded: a million phases, spread evenly, and
/// those next to the folds.
TEST_P(RotationErrors, OfRotation32Centres) {
  constexpr std::int64_t count = std::int64_t{1} << 20, to_next = (std::int64_t{1} << 32) / count;
  const simd::Rotation32Error bound = {kernels().fused_rounds_once};
  std::vector<std::int32_t> shifted(count);
  std::vector<float> sines(count);
  long double worst = 0;
  for (const std::int64_t offset : {-1, 0, 1, 1234}) {
    for (std::int64_t i = 0; i < count; ++i) {
      shifted[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(i * to_next + offset));
    }
    kernels().folded_sines(shifted.data(), count, sines.data());
    for (std::size_t i = 0; i < sines.size(); ++i) {
      const long double quarters = std::fabs(static_cast<long double>(shifted[i])) / 0x1p30L - 1;
      const long double exact = std::sin(1.57079632679489661923132169163975144L * quarters);
      worst = std::max(worst, std::fabs(sines[i] - exact));
    }
  }
  expect_tight("rotation32: centre", worst / simd::float_roundoff, bound.centre());
}

Rotation32Constants rotation32_constants(const EncodingSpec& spec, const simd::Kernels& kernels) {
  return Rotation32Constants(
      {shared_frequencies(spec), &kernels, spec.layout == Layout::interleaved});
}

TEST_P(RotationErrors, OfRotation32Tables) {
  constexpr std::int64_t rows = 2 * simd::paired_block_rows * simd::grouped_blocks + 5;
  const simd::Rotation32Error bound = {kernels().fused_rounds_once};
  const simd::Kernels& all = kernels_of(GetParam().isa);
  long double worst = 0;
  for (const DifficultTable& each : difficult_tables(rows)) {
    const std::int64_t columns = each.spec.d_model;
    std::vector<float> table(static_cast<std::size_t>(rows * columns));
    const Rotation32Constants constants = rotation32_constants(each.spec, all);
    all.rotation32(constants.tables(each.spec),
                   {each.first, rows, table.data(), columns, DataType::float32});
    for_each_entry(each, rows, [&](const Entry& entry) {
      worst = std::max(worst, std::fabs(table[entry.index] - to_long_double(entry.exact)));
    });
  }
  expect_within("rotation32: tables", worst / simd::float_roundoff, bound.total(), 2);
}

/// A row has the same bits in narrow and wide panels, in every part of a block, in every type.
TEST_P(RotationErrors, OfRotation32DoNotDependOnPanelsOrParts) {
  const simd::Kernels& all = kernels_of(GetParam().isa);
  constexpr std::int64_t rows = simd::paired_block_rows * (simd::grouped_blocks + 2),
                         d_model = 1386;
  for (const Layout layout : {Layout::interleaved, Layout::halves}) {
    for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
      const EncodingSpec spec = {.d_model = d_model, .layout = layout};
      const Rotation32Constants constants = rotation32_constants(spec, all);
      const simd::Rotation32Tables tables = constants.tables(spec);
      const std::size_t row_bytes = static_cast<std::size_t>(d_model * size_of(type));
      const auto table = [&](bool narrow_panels, std::int64_t part) {
        std::vector<char> bytes(row_bytes * rows);
        for (std::int64_t row = 0; row < rows; row += part) {
          all.rotation32(tables, {1'000'003 + row,
                                  std::min(part, rows - row),
                                  bytes.data() + row_bytes * static_cast<std::size_t>(row),
                                  d_model,
                                  type,
                                  {.narrow_panels = narrow_panels}});
        }
        return bytes;
      };
      const std::vector<char> whole = table(false, rows);
      EXPECT_EQ(whole, table(true, rows)) << to_string(type);
      for (const std::int64_t part : {1, 7, 16, 45}) {
        EXPECT_EQ(whole, table(false, part)) << to_string(type) << ", parts of " << part;
        EXPECT_EQ(whole, table(true, part)) << to_string(type) << ", parts of " << part;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, RotationErrors, testing::ValuesIn(simd::unrounded_kernels()),
                         [](const auto& test) { return std::string(to_string(test.param.isa)); });

}  // namespace
}  // namespace posenc
