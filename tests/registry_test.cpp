#include "posenc/registry.h"

#include "fake_backend.h"
#include "posenc/cpu.h"
#include "posenc/suite/shape_class.h"
#include "posenc/support/format.h"
#include "support.h"

#include <algorithm>
#include <set>

namespace posenc::test {
namespace {

TEST(Registry, FullNamesAreUniqueAndIsasAscend) {
  std::set<std::string> names;
  const Backend* previous = nullptr;
  for (const Backend* each : backends()) {
    EXPECT_TRUE(names.insert(each->full_name()).second) << each->full_name();
    EXPECT_FALSE(each->description().empty()) << each->full_name();
    EXPECT_EQ(each->description().find('\n'), std::string_view::npos) << each->full_name();
    if (previous != nullptr && previous->name() == each->name()) {
      EXPECT_LT(previous->isa(), each->isa()) << each->full_name();
    }
    previous = each;
  }
}

TEST(Registry, ANameAloneSelectsTheBestIsaOfThisCpu) {
  for (const Backend* each : running_backends()) {
    EXPECT_EQ(&backend(each->full_name()), each);
    const Backend& best = backend(each->name());
    EXPECT_TRUE(best.runs_here());
    EXPECT_EQ(best.name(), each->name());
    EXPECT_LE(each->isa(), best.isa());
  }
}

TEST(Registry, UnknownNamesListTheKnownOnes) {
  std::vector<std::string_view> known;
  for (const Backend* each : backends())
    if (known.empty() || known.back() != each->name()) known.push_back(each->name());
  for (const char* name : {"nonsense", "", "Rotation", "rotation ", "nonsense:portable"}) {
    EXPECT_THAT(refusal([&] { backend(name); }),
                AllOf(HasSubstr("backend is '"), HasSubstr("allowed: " + join(known, ", ") + ",")))
        << name;
  }
  expect_refused({{"backend is 'nonsense'", [] { backend("nonsense", Isa::portable); }}});
}

TEST(Registry, UnknownIsasListTheKnownOnes) {
  for (const char* name : {"rotation:sse9", "rotation:", "rotation:avx2:avx2"}) {
    EXPECT_THAT(refusal([&] { backend(name); }), AllOf(HasSubstr("ISA is '"), HasSubstr("avx2")))
        << name;
  }
  expect_refused({{"ISA is 'avx2'; allowed for backend naive in this build: portable",
                   [] { backend("naive", Isa::avx2); }}});
}

TEST(Registry, FindsARegisteredBackendAndRefusesDuplicates) {
  const RegisteredFake first({.name = "twice"});
  EXPECT_EQ(&backend("twice"), &*first);
  EXPECT_EQ(backends().back(), &*first);
  EXPECT_THAT(refusal([] { backend("nonsense"); }), HasSubstr("twice"));
  expect_refused({
      {"'naive:portable', which is already registered",
       [] { RegisteredFake again({.name = "naive"}); }},
      {"'twice:portable'", [] { RegisteredFake second({.name = "twice"}); }},
      {"backend is null", [] { register_backend(nullptr); }},
      {"backend '' has no name", [] { RegisteredFake nameless({.name = ""}); }},
      {"backend 'bare' has no make_writer", [] { register_backend({.name = "bare"}); }},
      {"backend 'typeless' has no element type",
       [] { register_backend({.name = "typeless", .types = {}}); }},
  });
  EXPECT_EQ(backends().back(), &*first);
}

TEST(Registry, BackendsCanBeUnregistered) {
  const std::vector<const Backend*> before = backends();
  std::vector<std::unique_ptr<Backend>> taken;
  for (const Backend* each : before) taken.push_back(unregister_backend(*each));
  EXPECT_THAT(backends(), IsEmpty());
  expect_refused({{"which is not registered", [&] { unregister_backend(*taken.front()); }}});
  for (auto& each : taken) register_backend(std::move(each));
  EXPECT_EQ(backends(), before);  // in the same order, which other tests of this process need
}

TEST(Registry, BackendsOfOtherCpusAreListedAndRefused) {
  const RegisteredFake registered({.name = "foreign", .isa = foreign_isa()});
  const Backend& foreign = *registered;
  EXPECT_FALSE(foreign.runs_here());
  EXPECT_THAT(backends(), Contains(&foreign));
  const std::string reason = "ISA of backend foreign is '" + std::string(to_string(foreign.isa())) +
                             "'; allowed on this CPU: portable";
  expect_refused({
      {reason, [&] { foreign.plan({.d_model = 4}); }},
      {reason, [] { backend("foreign"); }},
      {reason, [&] { backend("foreign", foreign.isa()); }},
      {reason, [&] { backend(foreign.full_name()); }},
  });
}

TEST(Cpu, HasThePortableOneAndAscendingIsas) {
  const Cpu& here = cpu();
  EXPECT_FALSE(here.model.empty());
  EXPECT_GE(here.logical_cores, 1);
  EXPECT_EQ(here.isas.front(), Isa::portable);
  EXPECT_TRUE(std::is_sorted(here.isas.begin(), here.isas.end()));
  for (const Isa isa : here.isas) EXPECT_TRUE(cpu_has(isa));
  EXPECT_FALSE(cpu_has(foreign_isa()));
#if defined(__x86_64__)
  EXPECT_EQ(cpu_has(Isa::avx2), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(cpu_has(Isa::avx512),
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"));
#endif
}

TEST(Cpu, ShapeClassesGrowWithTheTable) {
  Cpu known;
  EXPECT_EQ(shape_class(32 << 10, known), ShapeClass::l1) << "the size of a common CPU";
  known.l1_bytes = 100, known.l2_bytes = 200, known.l3_bytes = 300;
  std::vector<std::string_view> classes;
  for (const std::int64_t bytes : {0, 100, 101, 200, 201, 300, 301})
    classes.push_back(to_string(shape_class(bytes, known)));
  EXPECT_THAT(classes, ElementsAre("l1", "l1", "l2", "l2", "l3", "l3", "memory"));
}

}  // namespace
}  // namespace posenc::test
