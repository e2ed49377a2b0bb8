// The names of CPUs, and which measured CPU answers for another one.
#include "posenc/suite/microarchitecture.h"

#include "measurements.h"

#include <set>
#include <string_view>
#include <utility>

namespace posenc::test {
namespace {

Cpu machine(const std::string& model, std::int64_t l2_kib, Isa best) {
  Cpu made = {.model = model, .isas = {Isa::portable}};
  made.l2_bytes = l2_kib * 1024;
  for (const Isa each : {Isa::sse2, Isa::avx2, Isa::avx512})
    if (each <= best) made.isas.push_back(each);
  return made;
}

Measurements document(const std::string& model, std::int64_t l2_kib, const std::string& day,
                      Isa best = Isa::avx512) {
  Measurements made;
  made.machine = machine(model, l2_kib, best);
  made.measured_at = day + "T00:00:00Z";
  return made;
}

const std::string zen4 = "AMD EPYC (family 25, model 17, stepping 1)",
                  zen5 = "AMD EPYC (family 26, model 2, stepping 1)",
                  emerald = "Intel(R) Xeon(R) Processor (family 6, model 207, stepping 2)";

std::vector<Measurements> usual_documents() {
  return {document(zen5, 1024, "2026-01-01"), document(zen5, 1024, "2026-02-02"),
          document(zen4, 1024, "2026-01-01"), document(emerald, 2048, "2026-01-01")};
}

TEST(Microarchitecture, IsNamedByFamilyModelAndCache) {
  const auto text = [](const std::string& model, std::int64_t l2_kib) {
    return microarchitecture_text(machine(model, l2_kib, Isa::avx2));
  };
  EXPECT_EQ(text(zen4, 1024), "Zen 4");
  EXPECT_EQ(text(zen5, 1024), "Zen 5");
  EXPECT_EQ(text(emerald, 2048), "Emerald Rapids");
  EXPECT_EQ(text("Intel(R) Xeon(R) (family 6, model 143, stepping 8)", 2048), "Sapphire Rapids");
  EXPECT_EQ(text("AMD EPYC-Milan (family 25, model 1, stepping 1)", 512), "Zen 3");
  EXPECT_EQ(text("Some CPU (family 99, model 1, stepping 1)", 512), "not recognised");
  EXPECT_EQ(text("AArch64 (CPU implementer 0x41, CPU part 0xd0c)", 1024), "not recognised");
  const std::string rocket_lake = "Intel(R) Xeon(R) Processor (family 6, model 167, stepping 1)";
  EXPECT_EQ(text(rocket_lake, 512), "Rocket Lake");
  EXPECT_EQ(text(rocket_lake, 0), "Rocket Lake") << "unknown size";
  EXPECT_EQ(text(rocket_lake, 2048),
            "not recognised: model 167 is Rocket Lake, whose L2 cache has 512 KiB, not 2048 KiB");
  EXPECT_EQ(microarchitecture_of(machine(rocket_lake, 2048, Isa::avx512)), nullptr);
}

TEST(Microarchitecture, NamesAndModelsAreUnique) {
  std::set<std::string_view> names;
  std::set<std::pair<int, int>> models;
  for (const Microarchitecture& each : microarchitectures()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    if (!each.other_name.empty()) {
      EXPECT_TRUE(names.insert(each.other_name).second) << each.other_name;
    }
    EXPECT_GE(each.models[0].first, 0) << each.name;
    for (const ModelRange& range : each.models) {
      EXPECT_LE(range.first, range.last) << each.name;
      for (int model = std::max(range.first, 0); model <= range.last; ++model)
        EXPECT_TRUE(models.emplace(each.family, model).second) << each.name << ' ' << model;
    }
  }
}

TEST(FindCpu, AMeasuredCpuAnswersForItselfByItsNewestDocument) {
  const auto documents = usual_documents();
  for (const char* const name : {"Zen 5", "zen5", "ZEN-5", "znver5", "Family 26, Model 2",
                                 "(family 26, model 2, stepping 9)"}) {
    const KnownCpu found = find_cpu(name, documents);
    EXPECT_EQ(found.document, &documents[1]) << name;
    EXPECT_EQ(found.isas, documents[1].machine.isas);
    EXPECT_EQ(found.why, "measured: " + zen5 + ", 2026-02-02");
  }
}

TEST(FindCpu, AnotherCpuGetsTheNearestOneAndTheReason) {
  const auto documents = usual_documents();
  const auto check = [&](const char* name, const Measurements& expected, Isa best,
                         const std::string& why) {
    SCOPED_TRACE(name);
    const KnownCpu found = find_cpu(name, documents);
    EXPECT_EQ(found.document, &expected);
    EXPECT_EQ(found.isas.back(), best);
    EXPECT_THAT(found.why, AllOf(HasSubstr("not measured; "), HasSubstr(why)));
  };
  check("family 25, model 97", documents[2], Isa::avx512, "the same microarchitecture (Zen 4) as");
  check("Zen 3", documents[2], Isa::avx2, "it has no avx512, so only the rows up to avx2 count");
  check("Haswell", documents[3], Isa::avx2, "the nearest that was measured is Emerald Rapids");
  check("Sapphire Rapids", documents[3], Isa::avx512, "the nearest that was measured is Emerald");
  check("Raptor Lake", documents[3], Isa::avx2, "its cores are those of Emerald Rapids");
}

TEST(FindCpu, WhatIsNotRecognisedOrNearIsRefused) {
  const auto documents = usual_documents();
  for (const char* const name :
       {"", "foo", "family 99, model 1", "Zen", "xfamily 6, model 85", "family 6, model 85y"}) {
    EXPECT_THAT(refusal([&] { find_cpu(name, documents); }),
                AllOf(HasSubstr("is not recognised; allowed: Zen 4, Zen 5, Emerald Rapids;"),
                      HasSubstr("Skylake-SP")))
        << name;
  }
  // AVX2 alone says nothing of AVX-512, and one vendor nothing of another one.
  const std::vector<Measurements> old = {
      document("(family 25, model 1)", 512, "2026-01-01", Isa::avx2)};
  EXPECT_EQ(find_cpu("Zen 2", old).document, old.data());
  EXPECT_THAT(refusal([&] { find_cpu("Zen 5", old); }), HasSubstr("is near no measured CPU"));
  EXPECT_THAT(refusal([&] { find_cpu("Haswell", old); }), HasSubstr("is near no measured CPU"));
}

}  // namespace
}  // namespace posenc::test
