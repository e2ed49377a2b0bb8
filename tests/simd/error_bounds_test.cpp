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

/// The kernels of an ISA that runs here.
struct IsaUnderTest {
  Isa isa;
  const Kernels& kernels;
  const UnroundedKernels& unrounded;
};

std::vector<IsaUnderTest> running_isas() {
#define POSENC_ADDRESS_OF_UNROUNDED(isa) &isa##_unrounded(),
  const UnroundedKernels* const unrounded[] = {POSENC_FOR_EACH_ISA(POSENC_ADDRESS_OF_UNROUNDED)};
  std::vector<IsaUnderTest> running;
  for (std::size_t i = 0; i < std::size(unrounded); ++i) {
    const auto& [isa, kernels] = compiled_kernels()[i];
    if (cpu_has(isa)) running.push_back({isa, kernels, *unrounded[i]});
  }
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

/// Expects a measurement below its bound, and above what shows that the measurement sees errors.
/// Prints both in every run, to show the margin between them.
void expect_within(const std::string& what, long double measured, double bound, double least) {
  std::printf("%-44s %8.2Lf of %7.2f units\n", what.c_str(), measured, bound);
  EXPECT_LE(measured, bound) << what;
  EXPECT_GT(measured, least) << what;
}

/// Also expects that the bound is less than twice the measurement, so that no bound is too loose.
void expect_tight(const std::string& what, long double measured, double bound) {
  expect_within(what, measured, bound, bound / 2);
}

/// The largest error of 2 cos(w), a doubled anchor, in units: the rounding of cos(w), and the
/// errors of a polynomial in w^2 that is rounded a few times. Above pi / 4, the bound of any
/// anchor.
long double multiplier_error(long double w) {
  return w <= 0.785L ? 1 + 8 * w * w : 2 * RotationError::anchor_cosine;
}

class RotationErrors : public testing::TestWithParam<simd::IsaUnderTest> {
 protected:
  void SetUp() override {
    if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double is no wider than double";
  }
  const simd::Kernels& kernels() const { return GetParam().kernels; }
  const simd::UnroundedKernels& unrounded() const { return GetParam().unrounded; }
  bool is_fused() const { return kernels().has_fused_operations; }
  RotationError error() const { return {is_fused()}; }
  RotationConstants constants_of(const EncodingSpec& spec) const {
    return RotationConstants({shared_frequencies(spec), &kernels()});
  }
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
  std::int64_t first, row;  ///< the position of row 0, and the row
  double w;                 ///< the frequency
  std::size_t index;        ///< in the table
  bool is_sine;
  ExactValue<> exact;
};

/// The largest error(value, entry) of the difficult tables that write(spec, task) writes.
template <class T, class Write, class Error>
long double worst_of_tables(std::int64_t rows, const Write& write, const Error& error) {
  long double worst = 0;
  for (const auto& [spec, first] : difficult_tables(rows)) {
    const Frequencies frequencies(spec);
    std::vector<T> table(static_cast<std::size_t>(rows * spec.d_model));
    write(spec, simd::RowTask{first, rows, table.data(), spec.d_model, data_type_of<T>});
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < frequencies.count(); ++k) {
        const double w = to_radians(frequencies[k]);
        const Turns phase = frequencies.phase(k, first + row);
        const ChannelPair channel = channels_of(spec, k);
        for (const bool is_sine : {true, false}) {
          const std::int64_t column = is_sine ? channel.sine : channel.cosine;
          const auto index = static_cast<std::size_t>(row * spec.d_model + column);
          const Entry entry = {first, row,     w,
                               index, is_sine, is_sine ? sine(phase) : cosine(phase)};
          worst = std::max(worst, error(table[index], entry));
        }
      }
    }
  }
  return worst;
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
    const FrequencyTables tables(frequencies);
    std::vector<double> sines(static_cast<std::size_t>(tables.padded_count())), cosines = sines;
    for (const std::uint64_t position : positions) {
      kernels().anchors(tables.padded_count(), tables.arrays(), position, sines.data(),
                        cosines.data());
      for (std::int64_t k = 0; k < frequencies.count(); ++k) {
        const Turns phase = frequencies.phase(k, static_cast<std::int64_t>(position));
        const auto at = static_cast<std::size_t>(k);
        const long double exact = to_long_double(sine(phase)),
                          error = std::fabs(sines[at] - exact) - RotationError::truncation;
        worst_sine = std::max(worst_sine, error / std::fabs(exact));
        worst_cosine =
            std::max(worst_cosine, std::fabs(cosines[at] - to_long_double(cosine(phase))));
      }
    }
  }
  expect_tight("anchor, cosine", worst_cosine / unit, RotationError::anchor_cosine);
  expect_tight("anchor, sine, relative", worst_sine / unit, RotationError::anchor_sine);
}

/// The rounding errors of one rotation; the constants count as exact. The values are just above a
/// power of two, where half an ulp is largest relative to them.
TEST_P(RotationErrors, OfARotation) {
  constexpr double largest = 0.502;
  long double worst = 0;
  std::mt19937_64 random(2);
  for (const double base : {1.0001, 1.01, 1e4}) {
    const EncodingSpec spec = {.d_model = 512, .base = base};
    const RotationConstants constants = constants_of(spec);
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
      unrounded().rotate(tables, constants.turns.padded_count(), s.data(), c.data());
      for (std::size_t k = 0; k < count; ++k) {
        const long double sine = sines[k], cosine = cosines[k], sin_block = constants.block.sine[k],
                          cos_block = constants.block.cosine[k];
        worst = std::max({worst, std::fabs(s[k] - (sine * cos_block + cosine * sin_block)),
                          std::fabs(c[k] - (cosine * cos_block - sine * sin_block))});
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
    const RotationConstants constants = constants_of(spec);
    for (std::int64_t k = 0; k < frequencies.count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const long double w = constants.radians[at];
      const long double off =
          2 * std::fabs(constants.row.cosine[at] - to_long_double(cosine(frequencies[k]))) / unit;
      excess = std::max(excess, off - multiplier_error(w));
      worst = std::max(worst, off);
    }
  }
  expect_within("2 cos(w), any w", worst, 2 * RotationError::anchor_cosine, 1);
  EXPECT_LE(excess, 0) << "2 cos(w) is off by more than assumed";
}

/// Whole tables of many blocks after an anchor. The bound is that of the block's last position.
TEST_P(RotationErrors, OfTables) {
  constexpr std::int64_t rows = simd::block_rows * simd::anchored_blocks + 40;
  const auto write = [&](const EncodingSpec& spec, const simd::RowTask& task) {
    unrounded().rows(constants_of(spec).tables(spec, DataType::float32), task);
  };
  const auto error_of = [&](double value, const Entry& entry) {
    const std::int64_t block_end = (entry.row / simd::block_rows + 1) * simd::block_rows,
                       last = entry.first + std::min(rows, block_end);
    const double largest = entry.is_sine ? std::min(1.0, entry.w * static_cast<double>(last)) : 1;
    return (std::fabs(value - to_long_double(entry.exact)) - RotationError::truncation) / largest;
  };
  const long double worst = worst_of_tables<double>(rows, write, error_of);
  expect_within("tables", worst / unit, error().total(), RotationError::anchor);
}

/// The values between the bounds of 16-bit types, without the rounding of their last sum. Sines of
/// slow frequencies have smaller bounds.
TEST_P(RotationErrors, OfTablesOf16Bits) {
  constexpr std::int64_t rows = 2 * simd::paired_block_rows * simd::grouped_blocks + 40;
  const simd::RotationTo16BitsError bound = {is_fused()};
  const auto write = [&](const EncodingSpec& spec, const simd::RowTask& task) {
    const RotationConstants constants = constants_of(spec);
    unrounded().rows_to_16_bits(constants.tables(spec, DataType::float16), task);
  };
  const auto error_of = [](float value, const Entry& entry) {
    const std::int64_t block = (entry.first + entry.row) / simd::paired_block_rows,
                       last = (block + 1) * simd::paired_block_rows;
    const double largest =
        entry.is_sine ? std::min(1.0, 2 * entry.w * static_cast<double>(last)) : 1;
    // Half a unit in the last place, that of subnormals for 0.
    const int exponent = std::max(std::ilogb(value), FLT_MIN_EXP - 1);
    const long double last_rounding = std::ldexp(1.0L, exponent - FLT_MANT_DIG);
    return (std::fabs(value - to_long_double(entry.exact)) - last_rounding -
            RotationError::truncation) /
           largest;
  };
  const long double worst = worst_of_tables<float>(rows, write, error_of);
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
  const auto write = [&](const EncodingSpec& spec, const simd::RowTask& task) {
    low.resize(static_cast<std::size_t>(task.count * task.stride));
    const RotationConstants constants = constants_of(spec);
    unrounded().rows_to_float64(constants.tables(spec, DataType::float64), task, low.data());
  };
  const auto error_of = [&](double high, const Entry& entry) {
    const std::int64_t block = entry.row / simd::float64_block_rows;
    const bool is_short = entry.row >= rows - rows % simd::float64_block_rows;
    const long double truncation =
        simd::frequency_error * static_cast<long double>(entry.first + entry.row) / unit64;
    const long double error =
        std::fabs(difference(entry.exact, high, low[entry.index])) / unit64 - truncation;
    const double most = bound.total(is_short ? 0 : block % simd::float64_anchored_blocks);
    worst_share = std::max(worst_share, error / most);
    return error;
  };
  const long double worst = worst_of_tables<double>(rows, write, error_of);
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
  // In 16-bit types, no smaller value is certain.
  EXPECT_EQ(kernels.round(0.999 * least, type).is_certain, sizeof(T) == 4);
}

TEST_P(RotationErrors, AreWithinTheMarginOfWhatIsCertain) {
  const double bound = 0.999 * error().total() * simd::double_roundoff;
  expect_margins<float, std::uint32_t>(unrounded(), bound, 0x1p-10);
  expect_margins<Float16, std::uint16_t>(unrounded(), bound, 0x1p-14);
  expect_margins<BFloat16, std::uint16_t>(unrounded(), bound, 0x1p-19);
}

/// Sines and cosines of centres, before the phase is rounded: a million phases, spread evenly, and
/// those next to the folds.
TEST_P(RotationErrors, OfRotation32Centres) {
  constexpr std::int64_t count = std::int64_t{1} << 20, to_next = (std::int64_t{1} << 32) / count;
  const simd::Rotation32Error bound = {is_fused()};
  std::vector<std::int32_t> shifted(count);
  std::vector<float> sines(count);
  long double worst = 0;
  for (const std::int64_t offset : {-1, 0, 1, 1234}) {
    for (std::int64_t i = 0; i < count; ++i) {
      shifted[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(i * to_next + offset));
    }
    unrounded().folded_sines(shifted.data(), count, sines.data());
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
  const simd::Rotation32Error bound = {is_fused()};
  const auto write = [&](const EncodingSpec& spec, const simd::RowTask& task) {
    kernels().rotation32(rotation32_constants(spec, kernels()).tables(spec), task);
  };
  const auto error_of = [](float value, const Entry& entry) {
    return std::fabs(value - to_long_double(entry.exact));
  };
  const long double worst = worst_of_tables<float>(rows, write, error_of);
  expect_within("rotation32: tables", worst / simd::float_roundoff, bound.total(), 2);
}

/// A row has the same bits in narrow and wide panels, in every part of a block, in every type.
TEST_P(RotationErrors, OfRotation32DoNotDependOnPanelsOrParts) {
  constexpr std::int64_t rows = simd::paired_block_rows * (simd::grouped_blocks + 2),
                         d_model = 1386;
  for (const Layout layout : {Layout::interleaved, Layout::halves}) {
    const EncodingSpec spec = {.d_model = d_model, .layout = layout};
    const Rotation32Constants constants = rotation32_constants(spec, kernels());
    for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
      const auto table = [&](bool narrow_panels, std::int64_t part) {
        std::vector<char> bytes(static_cast<std::size_t>(rows * d_model * size_of(type)));
        const simd::RowTask all = {1'000'003, rows, bytes.data(),
                                   d_model,   type, {.narrow_panels = narrow_panels}};
        for (std::int64_t row = 0; row < rows; row += part)
          kernels().rotation32(constants.tables(spec), all.part(row, std::min(row + part, rows)));
        return bytes;
      };
      const std::vector<char> whole = table(false, rows);
      for (const std::int64_t part : {std::int64_t{1}, std::int64_t{7}, std::int64_t{45}, rows})
        for (const bool narrow_panels : {false, true})
          EXPECT_EQ(whole, table(narrow_panels, part)) << to_string(type) << ", parts of " << part;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, RotationErrors, testing::ValuesIn(simd::running_isas()),
                         [](const auto& test) { return std::string(to_string(test.param.isa)); });

}  // namespace
}  // namespace posenc
