// Correctly rounded entries against MPFR, by both stages: by chance the second one never runs, so
// that the first one claims less than it has, or entries are near a midpoint for a reason.
#include "posenc/exact/entry.h"

#include "exact/mpfr_value.h"
#include "frequency_rules.h"
#include "posenc/backend.h"
#include "posenc/registry.h"
#include "support.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace posenc::test {
namespace {

/// An entry of a spec.
struct Place {
  std::int64_t k, position;
  bool is_cosine = false;
};

/// Expects an entry to be certain, and nearest to the value of MPFR.
void expect_exact(const EncodingSpec& spec, const Place& place, const RoundedEntry& entry,
                  const MpfrValue& exact, DataType type) {
  ASSERT_TRUE(entry.is_certain && entry.bits == rounded_by_mpfr(exact, type))
      << testing::PrintToString(spec) << ", k " << place.k << ", position " << place.position
      << (place.is_cosine ? ", cosine, " : ", sine, ") << to_string(type)
      << (entry.is_certain ? "" : ", uncertain");
}

std::vector<EncodingSpec> specs_of_rules() {
  std::vector<EncodingSpec> all;
  for (const SpecOfRule& each : specs_of_every_rule()) all.push_back(each.spec);
  for (const double base : {1e4, 1.0001, 1e12, 1e60, 1e308})
    all.push_back({96, base, Layout::interleaved, Spacing::inclusive});
  return all;
}

/// How many of the entries that were checked each stage decided.
struct Decided {
  int first = 0, second = 0;
};

/// Compares random entries of every spec with MPFR.
Decided expect_exact_entries(EntryPrecision precision, int entries) {
  Decided decided;
  std::mt19937_64 random(3);
  for (const EncodingSpec& spec : specs_of_rules()) {
    const Frequencies frequencies(spec);
    for (int i = 0; i < entries; ++i) {
      const auto k =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(frequencies.count()));
      // Positions in every octave.
      const auto position = static_cast<std::int64_t>(random() >> (11 + random() % 53));
      const MpfrValue frequency = exact_frequency(spec, k);
      const bool is_tiny = mpfr_zero_p(frequency.get()) == 0 && mpfr_get_exp(frequency.get()) < -99;
      for (const bool is_cosine : {false, true}) {
        const MpfrValue exact = exact_entry(spec, k, position, is_cosine);
        for (const DataType type : all_data_types) {
          if (type == DataType::float64 && is_tiny) continue;  // not promised
          const RoundedEntry entry =
              rounded_entry(frequencies, k, position, is_cosine, type, precision);
          expect_exact(spec, {k, position, is_cosine}, entry, exact, type);
          if (testing::Test::HasFailure()) return decided;
          ++(entry.by_second_stage ? decided.second : decided.first);
        }
      }
    }
  }
  return decided;
}

TEST(RoundedEntry, EqualsTheEntryOfMpfr) {
  const Decided decided = expect_exact_entries({}, 300);
  EXPECT_GT(decided.first, 40000);
  EXPECT_EQ(decided.second, 0);
}

/// With 56 bits, every fourth float64 or so is uncertain; with 12, every float64 and float32.
TEST(RoundedEntry, IsDecidedByTheSecondStageIfTheFirstCannot) {
  const Decided some = expect_exact_entries({.first = 56}, 60);
  EXPECT_GT(some.first, 6000);
  EXPECT_GT(some.second, 300);
  const Decided most = expect_exact_entries({.first = 12}, 20);
  EXPECT_GT(most.second, most.first);
}

/// An entry that the second stage leaves uncertain is marked. Every machine computes the same bits
/// for it: the value nearest to the second stage's result.
TEST(RoundedEntry, IsMarkedIfItIsUncertain) {
  const EncodingSpec spec = {.d_model = 64};
  const Frequencies frequencies(spec);
  int uncertain = 0;
  for (std::int64_t position = 1; position <= 200; ++position) {
    const RoundedEntry entry = rounded_entry(frequencies, 1, position, false, DataType::float64,
                                             {.first = 56, .second = 56});
    EXPECT_EQ(entry.bits, rounded_entry(frequencies, 1, position, false, DataType::float64).bits);
    EXPECT_TRUE(entry.is_certain || entry.by_second_stage);
    uncertain += entry.is_certain ? 0 : 1;
  }
  EXPECT_GT(uncertain, 20);
  EXPECT_LT(uncertain, 150);
}

/// Frequencies below 2^-100 keep fewer bits than a float64 has.
TEST(RoundedEntry, ComesFromTheFirstStageBelowTheRangeOfFrequencies) {
  const Frequencies frequencies({.d_model = 64, .base = 1e300});
  for (const std::int64_t k : {4, 5, 6, 7, 8})
    EXPECT_FALSE(rounded_entry(frequencies, k, 12345, false, DataType::float64).by_second_stage);
}

/// For a small x that is a midpoint, sin(x) is x^3 / 6 away from it: nearer than 118 bits can tell
/// from 2^-59 on, and nearer than a phase of 256 bits from 2^-80 on.
TEST(RoundedEntry, IsDecidedNextToAMidpoint) {
  int second = 0;
  const auto check = [&](DataType type, double frequency, std::int64_t position) {
    if (std::fabs(frequency) < 0x1p-100) return;
    const EncodingSpec spec = {.d_model = 2, .frequencies = OwnFrequencies{{frequency}}};
    const RoundedEntry entry = rounded_entry(Frequencies(spec), 0, position, false, type);
    expect_exact(spec, {0, position}, entry, exact_entry(spec, 0, position, false), type);
    second += entry.by_second_stage ? 1 : 0;
    // A table has the same bits.
    with_type(type, [&]<class T>(T) {
      const auto row = encoded<T>(*backend("rotation").plan(spec), {position, 1});
      ASSERT_EQ(bits(row(0, 0)), entry.bits) << frequency << ", position " << position;
    });
  };
  for (const double sign : {1.0, -1.0}) {
    for (int exponent = -85; exponent >= -100; --exponent) {
      // Products with a bit more than the type has: (2^24 + 1) 2^exponent, and so on.
      const double unit = std::ldexp(sign, exponent);
      for (const std::int64_t odd : {1, 3, 5, 12345})
        check(DataType::float32, unit, (std::int64_t{1} << 24) + odd);
      for (const std::int64_t odd : {1, 3}) {
        check(DataType::float16, unit, (std::int64_t{1} << 11) + odd);
        check(DataType::bfloat16, unit, (std::int64_t{1} << 8) + odd);
        // 2^53 + 1 = 3 * 3002399751580331
        check(DataType::float64, 3002399751580331 * unit * 0x1p-40, 3 * odd);
        check(DataType::float64, 3002399751580331 * unit * 0x1p-46, 3 * odd);
      }
    }
  }
  EXPECT_GT(second, 200);
}

}  // namespace
}  // namespace posenc::test
