// The bits of rotation and rotation32. Those of rotation are pinned by one hash for each case: the
// same on every ISA, compiler and platform. A machine on which these tests pass computes the same
// tables as every other machine.
//
// The constants come from the exact values. PinnedHash.MatchesTheExactValues verifies each of them:
// it computes every entry in integers, by rounded_entry(), and hashes the table. If cases change,
// that test prints the new list to paste below:
//   POSENC_PRINT_HASHES=1 posenc_tests --gtest_filter='*PinnedHash.*' | grep '^ *0x'
#include "posenc/encoder.h"
#include "posenc/exact/entry.h"
#include "posenc/exact/frequency.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/suite/accuracy_report.h"
#include "support.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace posenc::test {
namespace {

/// In the order of all_cases().
constexpr std::uint64_t pins[] = {
    0x2043f0cf513fc715, 0xba2ed7266a6d9001, 0xd00af9d6198546c1, 0x8c3225eabe5f5ba4,
    0x2043f0cf513fc715, 0x9d954d23a628041a, 0x255c68627ef09a8e, 0xd00af9d6198546c1,
    0x22df393f39c365b7, 0x73392907fa328f99, 0xec6b4950c0c29f6d, 0x8a92bbe3d0b8abb8,
    0x09a87f92feba8a21, 0x65b2b9cb733a5d5b, 0xc36148bb3b00d86f, 0x839f9212080a9a8e,
    0x9da51ef2ad4b7ca0, 0x21d859be86685b35, 0x9da51ef2ad4b7ca0, 0xdd7d61f62d419f28,
    0x6ac7e30b1f913721, 0xbcc6a41012853b1a, 0x251b580de0b8dd25, 0x32b9ac83f8bb78c4,
    0x161610adcc1e3655, 0x920999fe595a6225, 0x6a46462a531acee5, 0x73e545cf8b5ad018,
    0x3822b4ee4060b6ed, 0x47e2dc9057ccc02a, 0xc387fab6207821f9, 0x27325817807febdf,
    0xddb9a6e1247c5797, 0x839f9212080a9a8e, 0x0b387f2eeee8dc68, 0x497cc81df0e8229f,
    0x048a443a70d48269, 0x4b8d851d8731dca8, 0xe3ac0c50c96bf5b6, 0x74c241b18a482c96,
    0x0e6d0628edebfe5a, 0x3aaa1ae8ab8e107d, 0x4423911b24af626d, 0x20574a2e19b97ba4,
    0x32d2defc4782c115, 0x4ed99be3ae8bb485, 0x5570950d903c70e5, 0x02bead3ae7155f47,
    0x867091c1c0ae13e2, 0x52f5c19c62252886, 0xdbea15d01b44c9df, 0xdd096f6dc1880c5f,
    0x0904ec2d8ace1854, 0xe728b4c08b32f1a5, 0x936d937df3619c82, 0x10b495f40c980e1a,
    0x3819e761caf1a594, 0x48837ad75d2fa9b7, 0xeb9920d56177417f, 0x408446734bb2362e,
    0x673395744feef31a, 0xb13a7fb5351455ac, 0x5f3bc056c1d77950, 0xa0ca9b3974e10fe0,
    0x19a68ae6c9546cce, 0x519589e5c9185027, 0x0a0fba98233164dc, 0x19689120e730173e,
    0x760e70a98866b5a4, 0x8459b9247695381f, 0x17c60e5983c27f5a, 0x63daa9c61ebd9653,
    0xdc0ec1505fd7d960, 0xab61562cf386cd34, 0x45d2b84268f8bb46,
};

struct Case {
  std::string name;
  EncodingSpec spec;
  RowRange rows;
  DataType type = DataType::float32;
  std::uint64_t pinned = 0;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }
};

constexpr std::pair<const char*, std::int64_t> named_far_starts[] = {
    {"1e6", 1'000'000},
    {"2_31", std::int64_t{1} << 31},
    {"1e12", 1'000'000'000'000},
    {"2_53_less_300", max_position - 300},
};

/// Every preset (its first rows, up to 2^19 entries) and some shapes of the paper's; layouts and
/// spacings at large positions, up to the last one; other bases and unusual widths.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  constexpr std::int64_t most_entries = 1 << 19;
  std::vector<Preset> named(presets().begin(), presets().end());
  named.push_back({"chunk", "", {.d_model = 512}, {0, 8}});
  named.push_back({"long_context", "", {.d_model = 128}, {0, 131072}});
  named.push_back({"wide", "", {.d_model = 4096}, {0, 8192}});
  for (const Preset& each : named) {
    const std::int64_t count = std::min(each.rows.count, most_entries / each.spec.d_model);
    cases.push_back({std::string(each.name), each.spec, {each.rows.first, count}});
  }
  const auto everywhere = [&cases](const std::string& name, const EncodingSpec& spec) {
    cases.push_back({name + "_from_0", spec, {0, 1000}});
    for (const auto& [start, position] : named_far_starts)
      cases.push_back({name + "_from_" + start, spec, {position, 301}});
  };
  everywhere("d512", {512, 1e4, Layout::interleaved, Spacing::paper});
  everywhere("d320_halves_inclusive", {320, 1e4, Layout::halves, Spacing::inclusive});
  everywhere("d98_cos_first", {98, 1e4, Layout::halves_cos_first, Spacing::paper});
  everywhere("d2", {2, 1e4, Layout::interleaved, Spacing::paper});
  everywhere("d130_base_2", {130, 2, Layout::interleaved, Spacing::paper});
  everywhere("d130_base_500000", {130, 5e5, Layout::halves_cos_first, Spacing::paper});
  everywhere("d130_base_1e10", {130, 1e10, Layout::halves, Spacing::inclusive});
  for (const DataType type : {DataType::float64, DataType::float16, DataType::bfloat16}) {
    const auto typed = [&](const std::string& name, const EncodingSpec& spec, RowRange rows) {
      cases.push_back({name + "_" + std::string(to_string(type)), spec, rows, type});
    };
    typed("d512_from_0", {512, 1e4, Layout::interleaved, Spacing::paper}, {0, 1000});
    typed("d512_from_1e12", {512, 1e4, Layout::interleaved, Spacing::paper},
          {1'000'000'000'000, 301});
    typed("d98_cos_first_from_2_53_less_300", {98, 1e4, Layout::halves_cos_first, Spacing::paper},
          {max_position - 300, 301});
    typed("d130_base_500000_from_0", {130, 5e5, Layout::halves, Spacing::paper}, {0, 1000});
  }
  for (std::size_t i = 0; i < std::min(cases.size(), std::size(pins)); ++i)
    cases[i].pinned = pins[i];
  return cases;
}

/// FNV-1a over the bits of the elements, lowest byte first on every machine.
class Hash {
 public:
  void add(std::uint64_t word, DataType type) {
    for (int shift = 0; shift < 8 * size_of(type); shift += 8)
      hash_ = (hash_ ^ ((word >> shift) & 0xff)) * 0x100000001b3;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

std::uint64_t encoded_hash(const Encoder& encoder, const Case& c) {
  return with_type(c.type, [&]<class T>(T) {
    const auto table = encoded<T>(encoder, c.rows);
    Hash hash;
    for (std::int64_t i = 0; i < table.rows() * table.columns(); ++i)
      hash.add(bits(table.data()[i]), c.type);
    return hash.value();
  });
}

/// The hash of the exact values, each rounded once.
std::uint64_t exact_hash(const Case& c) {
  const Frequencies frequencies(c.spec);
  std::vector<std::uint64_t> row(static_cast<std::size_t>(c.spec.d_model));
  Hash hash;
  for (const std::int64_t position : positions_of(c.rows)) {
    for (std::int64_t k = 0; k < frequencies.count(); ++k) {
      const ChannelPair channel = channels_of(c.spec, k);
      for (const bool is_cosine : {false, true})
        row[static_cast<std::size_t>(is_cosine ? channel.cosine : channel.sine)] =
            rounded_entry(frequencies, k, position, is_cosine, c.type).bits;
    }
    for (const std::uint64_t word : row) hash.add(word, c.type);
  }
  return hash.value();
}

std::string hexadecimal(std::uint64_t hash) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%016" PRIx64, hash);
  return text;
}

class PinnedHash : public testing::TestWithParam<Case> {};

TEST_P(PinnedHash, MatchesTheExactValues) {
  const std::string hash = hexadecimal(exact_hash(GetParam()));
  if (std::getenv("POSENC_PRINT_HASHES") != nullptr) std::printf("    %s,\n", hash.c_str());
  EXPECT_EQ(hash, hexadecimal(GetParam().pinned));
}

INSTANTIATE_TEST_SUITE_P(Exact, PinnedHash, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

/// rotation32 rounds more than once. Its bits are the same on every ISA that has fused operations,
/// and the same on every ISA that has none. These are the hashes of the hashes of all cases.
constexpr std::uint64_t pinned32_fused = 0x2228083096b965ab,
                        pinned32_not_fused = 0xa8e6b52caa4edd01;

std::string isa_of(const testing::TestParamInfo<const Backend*>& each) {
  return std::string(to_string(each.param->isa()));
}

class Rotation32Hash : public testing::TestWithParam<const Backend*> {};

TEST_P(Rotation32Hash, MatchesThePin) {
  const bool is_fused = GetParam()->isa() != Isa::portable && GetParam()->isa() != Isa::sse2;
  Hash hash;
  for (const Case& each : all_cases()) {
    const auto encoder = GetParam()->plan(each.spec);
    if (!encoder->backend().supports(each.type)) continue;
    hash.add(encoded_hash(*encoder, each), DataType::float64);
  }
  EXPECT_EQ(hexadecimal(hash.value()), hexadecimal(is_fused ? pinned32_fused : pinned32_not_fused));
}

INSTANTIATE_TEST_SUITE_P(Rotation32, Rotation32Hash,
                         testing::ValuesIn(running_backends("rotation32")), isa_of);

class RotationHash : public testing::TestWithParam<std::tuple<const Backend*, Case>> {};

TEST_P(RotationHash, MatchesThePin) {
  const auto& [backend, c] = GetParam();
  const std::uint64_t hash = encoded_hash(*backend->plan(c.spec), c);
  EXPECT_EQ(hexadecimal(hash), hexadecimal(c.pinned));
}

/// "avx2_tutorial"
std::string isa_and_case(const testing::TestParamInfo<RotationHash::ParamType>& each) {
  const auto& [backend, c] = each.param;
  return std::string(to_string(backend->isa())) + "_" + c.name;
}

INSTANTIATE_TEST_SUITE_P(Rotation, RotationHash,
                         testing::Combine(testing::ValuesIn(running_backends("rotation")),
                                          testing::ValuesIn(all_cases())),
                         isa_and_case);

/// Covers what no pinned table has: many anchors, and difficult frequencies. data_type_test.cpp
/// covers every shape.
class RotationBits : public testing::TestWithParam<const Backend*> {};

TEST_P(RotationBits, AreExactForDifficultFrequencies) {
  constexpr Layout interleaved = Layout::interleaved, halves = Layout::halves;
  std::vector<Case> cases = {
      {"many anchors", {34}, {(std::int64_t{1} << 31) - 700, 1401}},
      {"all frequencies nearly 1", {96, 1.0000001, interleaved, Spacing::paper}, {0, 700}},
      {"tiny sines", {96, 1e10, halves, Spacing::paper}, {1, 700}},
      {"sines below float's subnormals", {96, 1e60, interleaved, Spacing::inclusive}, {1, 60}},
      {"the same, far", {96, 1e60, halves, Spacing::inclusive}, {1'000'000'000'000, 60}},
      {"355 is near 113 pi", {2, 1e4, interleaved, Spacing::paper}, {354, 60'000}}};
  // Entries that are subnormal in every type but float64, and entries that round to 0.
  for (const double base : {1e48, 1e300}) {
    for (const DataType type : all_data_types)
      cases.push_back(
          {std::string(to_string(type)), {.d_model = 66, .base = base}, {0, 100}, type});
  }
  for (const Case& each : cases)
    EXPECT_EQ(encoded_hash(*GetParam()->plan(each.spec), each), exact_hash(each)) << each;
}

INSTANTIATE_TEST_SUITE_P(Rotation, RotationBits, testing::ValuesIn(running_backends("rotation")),
                         isa_of);

}  // namespace
}  // namespace posenc::test
