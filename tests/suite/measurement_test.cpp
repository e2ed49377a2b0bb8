// Documents of measurements, and the profile, which is one.
#include "posenc/suite/measurement.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/suite/measurement_json.h"

#include "measurements.h"
#include "posenc/registry.h"
#include "posenc/suite/document.h"
#include "posenc/suite/profile.h"
#include "posenc/support/kernels_digest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace posenc::test {
namespace {

using nlohmann::json;

Measurements some_document() {
  const Measurement limit = {
      {{.backend = "store", .isa = {}, .role = Role::limit}, measured("x", 1).table}, {1e-7, 2e-7}};
  Measurement broken = measured("broken", 1e-6);
  broken.error->max_ulp = std::nan("");
  broken.promise->max_ulp = std::numeric_limits<double>::infinity();
  broken.table = table_of({.d_model = 8,
                           .base = 500.5,
                           .layout = Layout::halves_cos_first,
                           .spacing = Spacing::inclusive,
                           .frequencies = parse_frequency_rule("linear:factor=4")},
                          {-7, 300}, DataType::bfloat16, 3);
  broken.self_ratios = {1.25};
  broken.phases = "float32";
  return document_of({measured("naive", 2e-6), measured("rotation", 1e-6), limit, broken});
}

/// A document as JSON, for tests to corrupt.
json saved() { return json::parse(text_of(to_json(some_document()))); }

/// The reason why a profile of that content is refused.
std::string reason_of(const std::string& content) {
  const ScratchFolder folder;
  write_file(folder / "profile.json", content);
  const std::string reason = refusal([&] { Profile::load(folder / "profile.json"); });
  EXPECT_THAT(reason, Not(HasSubstr("\n")));
  return reason;
}

/// The reason if the document has another value at this place.
std::string reason_with(const char* place, const json& value) {
  json document = saved();
  document[json::json_pointer(place)] = value;
  return reason_of(document.dump());
}

TEST(Measurements, RoundTripThroughTheirFile) {
  const ScratchFolder folder;
  const auto file = folder / "profile.json";
  const Measurements document = some_document();
  write_measurements(document, file);
  write_measurements(document, file);
  EXPECT_THAT(folder.listing(), ElementsAre("profile.json")) << "no temporary file stays";
  const Measurements read = read_measurements(file);
  const std::string text = read_file(file);
  EXPECT_EQ(text_of(to_json(read)), text) << "every member that is written is read";
  EXPECT_EQ(read.machine, document.machine);
  EXPECT_EQ(read.kernels, kernels_digest());
  ASSERT_EQ(read.all.size(), 4U);
  EXPECT_EQ(read.all[0].error, document.all[0].error);
  const Measurement &a = read.all.back(), &b = document.all.back();
  EXPECT_EQ(a.full_name(), b.full_name());
  EXPECT_EQ(a.table, b.table);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.self_ratios, b.self_ratios);
  EXPECT_EQ(a.promise, b.promise);
  EXPECT_EQ(a.phases, b.phases);
  EXPECT_TRUE(std::isnan(a.error->max_ulp)) << "JSON has no NaN: null";
  // Each measurement has one line.
  EXPECT_THAT(text, HasSubstr("\n \"measurements\": [\n  {"));
  EXPECT_THAT(text, testing::EndsWith("}\n ]\n}\n"));
  EXPECT_EQ(std::ranges::count(text.substr(text.find("measurements\"")), '\n'), 1 + 4 + 2);
}

TEST(Measurements, OlderOnesComparedSomeEntries) {
  json old = saved();
  old["measurements"][0]["error"].erase("checked");
  EXPECT_EQ(measurement_from(old["measurements"][0], "").error->checked, 0);
}

TEST(Measurements, SpeedsAreOfTheMedian) {
  Measurement row = measured("x", 1);
  row.table = table_of({.d_model = 64}, {0, 1000});
  row.seconds = {1e-3, 2e-3, 9e-3};
  EXPECT_DOUBLE_EQ(row.gfloats_per_second(), 64e3 / 2e-3 / 1e9);
}

TEST(Measurements, ATableWithoutAPromiseKeptIsSeen) {
  Measurement row = measured("x", 1);
  EXPECT_TRUE(row.keeps_its_promise());
  row.error->max_abs = std::nan("");
  EXPECT_FALSE(row.keeps_its_promise());
  row.promise.reset();
  EXPECT_TRUE(row.keeps_its_promise());
}

TEST(Measurements, WhatIsNoDocumentIsRefusedWithItsPlace) {
  const std::vector<std::pair<const char*, json>> wrong = {
      {"/version", "4"},
      {"/machine", 5},
      {"/machine/l1_bytes", -1},
      {"/measured_at", nullptr},
      {"/measurements", json::object()},
      {"/measurements/1/backend", "a\033[31m"},
      {"/measurements/1/backend", "a\u009b31m"},
      {"/measurements/1/backend", std::string(1001, 'a')},
      {"/measurements/1/role", "boss"},
      {"/measurements/1/seconds", 1},
      {"/measurements/1/seconds/1", 0},
      {"/measurements/1/error", 3},
      {"/measurements/1/error/max_abs", -1},
      {"/measurements/1/bound/correctly_rounded", 1},
      {"/measurements/1/table/spec/d_model", 3},
      {"/measurements/1/table/spec/base", 0.5},
      {"/measurements/1/table/spec/frequencies", "spiral"},
      {"/measurements/1/table/rows/first", 1.5},
      {"/measurements/1/table/rows/first", std::numeric_limits<std::uint64_t>::max()},
      {"/machine/isas", "avx2"},
      {"/machine/isas", json::array()},
      {"/disturbed", 1},
      {"/measurements/1/table/rows/count", 0},
      {"/measurements/1/table/dtype", "float8"},
      {"/measurements/1/table/threads", 0},
      {"/measurements/1/table/stores", "fast"}};
  for (const auto& [place, value] : wrong) {
    std::string name(place + 1);  // the last part of the path
    name = name.substr(name.rfind('/') + 1);
    if (name == "1") name = "seconds[1]";
    EXPECT_THAT(reason_with(place, value), HasSubstr(name)) << place << " = " << value;
  }
  EXPECT_THAT(reason_with("/measurements/0", saved()["measurements"][1]),
              HasSubstr("measurements[1] repeats"));
  EXPECT_THAT(reason_with("/version", 5), HasSubstr("its format is 5, this library reads 4"));
  json without = saved();
  without.erase("compiler");
  EXPECT_THAT(reason_of(without.dump()), HasSubstr("compiler is missing"));
  const std::string text = saved().dump();
  EXPECT_THAT(reason_of(text + std::string("\0 {}", 4)), HasSubstr("NUL byte"));
  EXPECT_THAT(reason_of("{\"version\": 4, " + text.substr(1)), HasSubstr("version is given twice"));
}

TEST(Measurements, GarbageAndTruncatedFilesAreRefused) {
  for (const std::string& content :
       {std::string(), std::string("not JSON"), std::string("[]"), std::string("null"),
        std::string("{}"), std::string("\0\xff\xfe garbage", 12), std::string(100'000, '[')})
    EXPECT_THAT(reason_of(content), HasSubstr("allowed: JSON of posenc measure"))
        << content.substr(0, 20);
  EXPECT_THAT(reason_of(std::string(17 << 20, ' ')), HasSubstr("cannot be read: File too large"));
  const std::string whole = saved().dump(1);
  for (std::size_t size = 0; size + 1 < whole.size(); size += 29)
    EXPECT_THAT(reason_of(whole.substr(0, size)), HasSubstr("allowed: JSON of posenc measure"));
  expect_refused(
      {{"nothing, which cannot be read: No such file", [] { read_measurements("nothing"); }}});
}

TEST(Profile, IsADocumentOfThisMachineAndItsKernels) {
  EXPECT_EQ(reason_of(saved().dump()), nothing_thrown);
  EXPECT_EQ(reason_with("/library_version", "99.0.0"), nothing_thrown)
      << "other versions may have the same kernels";
  EXPECT_THAT(reason_with("/kernels", "0123456789ab"),
              AllOf(HasSubstr("0123456789ab"), HasSubstr(std::string(kernels_digest()))));
  EXPECT_THAT(reason_with("/machine/cpu", "Another CPU 9000"), HasSubstr("Another CPU 9000"));
  EXPECT_THAT(reason_with("/machine/isas", {"portable"}), HasSubstr("with portable; this one is"));
}

TEST(Profile, SelectsByTheLargestNumberOfThreadsUpToThatAskedFor) {
  std::vector<Measurement> rows;
  for (const int threads : {1, 4}) {
    rows.push_back(measured("rotation", 1e-6));
    rows.back().isa = to_string(backend("rotation").isa());
    rows.back().table.threads = threads;
  }
  const Profile profile(document_of(rows));
  const auto reason = [&](int threads, DataType type = DataType::float32) {
    return profile.select({.d_model = 64}, {0, 40}, {.accuracy = {}, .type = type}, threads).reason;
  };
  EXPECT_THAT(reason(3), HasSubstr("(l1, float32, 1 thread)"));
  EXPECT_THAT(reason(9), HasSubstr("(l1, float32, 4 threads)"));
  EXPECT_THAT(reason(9, DataType::bfloat16), Not(HasSubstr("profile")));
}

}  // namespace
}  // namespace posenc::test
