#include "posenc/profile.h"

#include "posenc/version.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <system_error>
#include <utility>

namespace posenc {
namespace {

using nlohmann::json;
using test::read_file;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MeasuredClass some_class(ShapeClass shape, int threads, std::string backend) {
  return {.shape = shape,
          .type = DataType::float32,
          .threads = threads,
          .measured_at = "2017-06-12T17:57:34Z",
          .shapes = {"8x512", "whisper"},
          .noise_floor = 0.0625,
          .backends = {{std::move(backend), Isa::scalar, {1.25e-10, 1.5e-10}, 2.98e-8, 0.5, 3e-8},
                       {"naive", Isa::scalar, {4e-8, 5e-8}, 2.98e-8, 0.75, 3.01e-8}}};
}

Profile some_profile() {
  Profile profile = profile_of_this_machine();
  profile.classes = {some_class(ShapeClass::l2, 1, "rotation"),
                     some_class(ShapeClass::memory, 2, "xsimd")};
  profile.stores = {{"rotation:avx2", 1 << 20, {1e-4, 2e-4}, {3e-4, 2e-4}}};
  return profile;
}

void expect_equal(const MeasuredClass& a, const MeasuredClass& b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.measured_at, b.measured_at);
  EXPECT_EQ(a.shapes, b.shapes);
  EXPECT_EQ(a.noise_floor, b.noise_floor);
  ASSERT_EQ(a.backends.size(), b.backends.size());
  for (std::size_t i = 0; i < a.backends.size(); ++i) {
    EXPECT_EQ(a.backends[i].backend, b.backends[i].backend);
    EXPECT_EQ(a.backends[i].isa, b.backends[i].isa);
    EXPECT_EQ(a.backends[i].seconds_per_entry, b.backends[i].seconds_per_entry);
    EXPECT_EQ(a.backends[i].max_abs, b.backends[i].max_abs);
    EXPECT_EQ(a.backends[i].max_ulp, b.backends[i].max_ulp);
    EXPECT_EQ(a.backends[i].error_bound, b.backends[i].error_bound);
  }
}

/// Why a profile with this content is not used.
std::string reason_of(const std::string& content) {
  const ScratchFolder folder;
  write_file(folder / "profile.json", content);
  const LoadedProfile loaded = load_profile(folder / "profile.json");
  EXPECT_FALSE(loaded.profile.has_value()) << content;
  EXPECT_EQ(loaded.reason.find('\n'), std::string::npos) << loaded.reason;
  return loaded.reason;
}

/// A valid profile as JSON, for tests to corrupt.
json saved() {
  const ScratchFolder folder;
  save_profile(some_profile(), folder / "profile.json");
  return json::parse(read_file(folder / "profile.json"));
}

TEST(Profile, RoundTripsThroughItsFile) {
  const ScratchFolder folder;
  const Profile profile = some_profile();
  save_profile(profile, folder / "profile.json");
  const auto [loaded, reason] = load_profile(folder / "profile.json");
  ASSERT_TRUE(loaded.has_value()) << reason;
  EXPECT_THAT(reason, IsEmpty());
  EXPECT_EQ(loaded->cpu_model, profile.cpu_model);
  EXPECT_EQ(loaded->cpu_features, profile.cpu_features);
  EXPECT_EQ(loaded->compiler, profile.compiler);
  EXPECT_EQ(loaded->library_version, profile.library_version);
  EXPECT_EQ(loaded->kernels, kernels_revision);
  ASSERT_EQ(loaded->classes.size(), 2U);
  expect_equal(loaded->classes[0], profile.classes[0]);
  expect_equal(loaded->classes[1], profile.classes[1]);
  ASSERT_EQ(loaded->stores.size(), 1U);
  EXPECT_EQ(loaded->stores[0].backend, "rotation:avx2");
  EXPECT_EQ(loaded->stores[0].bytes, 1 << 20);
  EXPECT_EQ(loaded->stores[0].cached, profile.stores[0].cached);
  EXPECT_EQ(loaded->stores[0].non_temporal, profile.stores[0].non_temporal);
  EXPECT_THAT(folder.listing(), ElementsAre("profile.json")) << "no temporary file stays";
}

TEST(Profile, IsJsonWithAVersion) {
  const json document = saved();
  EXPECT_EQ(document.at("version"), Profile::format_version);
  EXPECT_EQ(document.at("cpu").at("model"), profile_of_this_machine().cpu_model);
  EXPECT_EQ(document.at("kernels"), kernels_revision);
  EXPECT_EQ(document.at("classes").size(), 2U);
  EXPECT_EQ(document.at("classes").at(0).at("backends").at(0).at("backend"), "rotation");
}

TEST(Profile, FindsTheLargestThreadCountNotAboveTheRequest) {
  Profile profile;
  profile.classes = {some_class(ShapeClass::l2, 1, "one"), some_class(ShapeClass::l2, 4, "four"),
                     some_class(ShapeClass::l3, 1, "other")};
  const auto found = [&](ShapeClass shape, int threads) {
    const MeasuredClass* measured = profile.find(shape, DataType::float32, threads);
    return measured == nullptr ? "nothing" : measured->backends.front().backend;
  };
  EXPECT_EQ(found(ShapeClass::l2, 1), "one");
  EXPECT_EQ(found(ShapeClass::l2, 3), "one");
  EXPECT_EQ(found(ShapeClass::l2, 9), "four");
  EXPECT_EQ(found(ShapeClass::l3, 2), "other");
  EXPECT_EQ(found(ShapeClass::memory, 1), "nothing");
  EXPECT_EQ(found(ShapeClass::l2, 0), "nothing");
  EXPECT_EQ(profile.find(ShapeClass::l2, DataType::float16, 1), nullptr);
  EXPECT_EQ(profile.find_exactly(ShapeClass::l2, DataType::float32, 3), nullptr);
  EXPECT_NE(profile.find_exactly(ShapeClass::l2, DataType::float32, 4), nullptr);
}

TEST(Profile, SavingMakesMissingFoldersAndReplacesAnOlderFile) {
  const ScratchFolder folder;
  const auto file = folder / "a" / "b" / "profile.json";
  save_profile(some_profile(), file);
  Profile smaller = some_profile();
  smaller.classes.pop_back();
  save_profile(smaller, file);
  EXPECT_EQ(load_profile(file).profile->classes.size(), 1U);
}

TEST(Profile, MergeReplacesMeasuredClassesAndKeepsTheOthers) {
  Profile older = profile_of_this_machine();
  older.compiler = "an older one";
  older.classes = {some_class(ShapeClass::l1, 1, "naive"), some_class(ShapeClass::l2, 1, "naive"),
                   some_class(ShapeClass::l2, 2, "naive")};
  Profile newer = profile_of_this_machine();
  newer.classes = {some_class(ShapeClass::l2, 1, "rotation"),
                   some_class(ShapeClass::memory, 1, "rotation")};

  const Profile merged = merge(older, newer);
  EXPECT_EQ(merged.compiler, newer.compiler);
  std::vector<std::string> classes;
  for (const MeasuredClass& each : merged.classes) {
    classes.push_back(std::string(to_string(each.shape)) + " " + std::to_string(each.threads) +
                      " " + each.backends.front().backend);
  }
  EXPECT_THAT(classes,
              ElementsAre("l1 1 naive", "l2 1 rotation", "l2 2 naive", "memory 1 rotation"));
}

TEST(Profile, WithoutComparedStoresIsValid) {
  json document = saved();
  document.erase("stores");
  const ScratchFolder folder;
  write_file(folder / "profile.json", document.dump());
  const LoadedProfile loaded = load_profile(folder / "profile.json");
  ASSERT_TRUE(loaded.profile.has_value()) << loaded.reason;
  EXPECT_FALSE(loaded.profile->most_cached_bytes().has_value());
}

TEST(Profile, PlainStoresEndWhereTheyBecomeSlower) {
  const auto stores = [](std::int64_t bytes, double cached, double non_temporal) {
    return MeasuredStores{"rotation:avx2", bytes, {cached, cached}, {non_temporal, non_temporal}};
  };
  Profile profile;
  EXPECT_FALSE(profile.most_cached_bytes().has_value());
  profile.stores = {stores(4096, 1, 2), stores(8192, 1, 1), stores(16384, 1.1, 1)};
  EXPECT_EQ(profile.most_cached_bytes(), 8192);
  // A larger size at which plain stores win again is noise.
  profile.stores.push_back(stores(32768, 1, 2));
  EXPECT_EQ(profile.most_cached_bytes(), 8192);
  // Of two backends, the larger ratio decides.
  profile.stores.push_back(stores(8192, 1.5, 1));
  EXPECT_EQ(profile.most_cached_bytes(), 4096);
  profile.stores = {stores(4096, 2, 1)};
  EXPECT_EQ(profile.most_cached_bytes(), 2048);
}

TEST(Profile, MergeKeepsTheNewerComparisonOfStores) {
  const Profile older = some_profile();
  Profile newer;
  EXPECT_EQ(merge(older, newer).stores.size(), 1U);
  newer.stores = {{"rotation:sse2", 4096, {1}, {1}}};
  EXPECT_EQ(merge(older, newer).stores.at(0).backend, "rotation:sse2");
}

TEST(Profile, MissingFilesGiveAReason) {
  const ScratchFolder folder;
  const LoadedProfile loaded = load_profile(folder / "nothing.json");
  EXPECT_FALSE(loaded.profile.has_value());
  EXPECT_THAT(loaded.reason, HasSubstr((folder / "nothing.json").string()));
  EXPECT_FALSE(load_profile({}).reason.empty());
}

TEST(Profile, CorruptFilesGiveAReason) {
  EXPECT_THAT(reason_of(""), HasSubstr("corrupt"));
  EXPECT_THAT(reason_of("not JSON at all"), HasSubstr("corrupt"));
  EXPECT_THAT(reason_of("[]"), HasSubstr("corrupt"));
  EXPECT_THAT(reason_of("null"), HasSubstr("corrupt"));
  EXPECT_THAT(reason_of("{}"), HasSubstr("corrupt"));
  EXPECT_THAT(reason_of(std::string("\0\xff\xfe garbage", 12)), HasSubstr("corrupt"));
  EXPECT_THAT(reason_of(std::string(100'000, '[')), HasSubstr("corrupt"));
  EXPECT_THAT(reason_of(std::string(3 << 20, ' ')), HasSubstr("corrupt"));
}

TEST(Profile, FilesTruncatedAnywhereGiveAReason) {
  const std::string whole = saved().dump(2);
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7)
    EXPECT_THAT(reason_of(whole.substr(0, size)), HasSubstr("corrupt"));
}

TEST(Profile, WrongTypesAndValuesGiveAReasonThatNamesThem) {
  const auto spoiled = [](const json::json_pointer& place, const json& value) {
    json document = saved();
    document[place] = value;
    return reason_of(document.dump());
  };
  using namespace nlohmann::literals;
  EXPECT_THAT(spoiled("/version"_json_pointer, "1"), HasSubstr("version"));
  EXPECT_THAT(spoiled("/cpu"_json_pointer, 5), HasSubstr("cpu"));
  EXPECT_THAT(spoiled("/cpu/features"_json_pointer, "avx2"), HasSubstr("features"));
  EXPECT_THAT(spoiled("/kernels"_json_pointer, "new"), HasSubstr("kernels"));
  EXPECT_THAT(spoiled("/classes"_json_pointer, json::object()), HasSubstr("classes"));
  EXPECT_THAT(spoiled("/classes/1/shape_class"_json_pointer, "l9"),
              HasSubstr("classes[1].shape_class"));
  EXPECT_THAT(spoiled("/classes/0/threads"_json_pointer, 0), HasSubstr("classes[0].threads"));
  EXPECT_THAT(spoiled("/classes/0/threads"_json_pointer, 1.5), HasSubstr("classes[0].threads"));
  EXPECT_THAT(spoiled("/classes/0/noise_floor"_json_pointer, -1),
              HasSubstr("classes[0].noise_floor"));
  EXPECT_THAT(spoiled("/classes/0/measured_at"_json_pointer, 5),
              HasSubstr("classes[0].measured_at"));
  const auto of_backend = [&](const char* place, const json& value) {
    return spoiled(json::json_pointer(std::string("/classes/0/backends/1/") + place), value);
  };
  EXPECT_THAT(of_backend("backend", 7), HasSubstr("classes[0].backends[1].backend"));
  EXPECT_THAT(of_backend("backend", "a\033[31m"), HasSubstr("classes[0].backends[1].backend"));
  EXPECT_THAT(of_backend("isa", "sse9"),
              AllOf(HasSubstr("classes[0].backends[1].isa"), HasSubstr("sse9")));
  EXPECT_THAT(of_backend("max_abs", -1), HasSubstr("classes[0].backends[1].max_abs"));
  EXPECT_THAT(of_backend("max_ulp", "2 %"), HasSubstr("classes[0].backends[1].max_ulp"));
  EXPECT_THAT(of_backend("error_bound", nullptr), HasSubstr("classes[0].backends[1].error_bound"));
  EXPECT_THAT(of_backend("seconds_per_entry", json::array()), HasSubstr("seconds_per_entry"));
  EXPECT_THAT(of_backend("seconds_per_entry", {1e-9, 0}), HasSubstr("seconds_per_entry[1]"));
  EXPECT_THAT(of_backend("seconds_per_entry", {1e-9}), HasSubstr("as many processes"));
  EXPECT_THAT(spoiled("/stores"_json_pointer, 1), HasSubstr("stores"));
  EXPECT_THAT(spoiled("/stores/0/bytes"_json_pointer, 0), HasSubstr("stores[0].bytes"));
  EXPECT_THAT(spoiled("/stores/0/cached"_json_pointer, {1e-3}), HasSubstr("stores[0]"));
  json without = saved();
  without.erase("compiler");
  EXPECT_THAT(reason_of(without.dump()), HasSubstr("compiler"));
}

TEST(Profile, OtherFormatVersionsAreRefusedWithTheRemedy) {
  json document = saved();
  document["version"] = Profile::format_version + 1;
  EXPECT_THAT(reason_of(document.dump()),
              AllOf(HasSubstr("format is 4"), HasSubstr("run posenc pick --save again")));
  // The format of an earlier version.
  const json older = {{"version", 2},
                      {"cpu", {{"model", "x"}, {"features", {"scalar"}}}},
                      {"compiler", "g++"},
                      {"library_version", "0.1.0"},
                      {"picks", json::array()}};
  EXPECT_THAT(reason_of(older.dump()),
              AllOf(HasSubstr("format is 2"), HasSubstr("run posenc pick --save again")));
}

TEST(Profile, IsValidAcrossLibraryVersionsWithTheSameKernels) {
  const ScratchFolder folder;
  json document = saved();
  document["library_version"] = "99.0.0";
  write_file(folder / "profile.json", document.dump());
  const LoadedProfile loaded = load_profile(folder / "profile.json");
  ASSERT_TRUE(loaded.profile.has_value()) << loaded.reason;
  EXPECT_EQ(loaded.profile->library_version, "99.0.0");

  document["kernels"] = kernels_revision + 1;
  EXPECT_THAT(reason_of(document.dump()),
              AllOf(HasSubstr("kernels"), HasSubstr("run posenc pick --save again")));
}

TEST(Profile, ProfilesOfOtherCpusAreRefused) {
  json document = saved();
  document["cpu"]["model"] = "Another CPU 9000";
  EXPECT_THAT(reason_of(document.dump()),
              AllOf(HasSubstr("Another CPU 9000"), HasSubstr(profile_of_this_machine().cpu_model)));

  document = saved();
  document["cpu"]["features"] = {"scalar"};
  EXPECT_THAT(reason_of(document.dump()), HasSubstr("scalar"));
}

TEST(Profile, UnreadableFilesGiveAReason) {
  const ScratchFolder folder;
  EXPECT_THAT(load_profile(folder.path()).reason, HasSubstr("not a regular file"));
  EXPECT_FALSE(load_profile("/dev/null").profile.has_value());
  save_profile(some_profile(), folder / "closed.json");
  ASSERT_EQ(chmod((folder / "closed.json").c_str(), 0), 0);
  if (geteuid() != 0) {  // root reads everything
    EXPECT_THAT(load_profile(folder / "closed.json").reason,
                HasSubstr("cannot be read: Permission denied"));
  }
  // A file that can be opened, but whose first byte cannot be read.
  if (std::filesystem::exists("/proc/self/mem")) {
    EXPECT_EQ(load_profile("/proc/self/mem").reason,
              "profile /proc/self/mem cannot be read: Input/output error");
  }
}

TEST(Profile, AFailedSaveNamesThePathAndLeavesTheOldFile) {
  const ScratchFolder folder;
  write_file(folder / "file", "not a folder");
  const auto beneath_a_file = folder / "file" / "profile.json";
  try {
    save_profile(some_profile(), beneath_a_file);
    FAIL() << "nothing thrown";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr((folder / "file").string()));
  }
  EXPECT_EQ(read_file(folder / "file"), "not a folder");

  std::filesystem::create_directory(folder / "folder");
  EXPECT_THROW(save_profile(some_profile(), folder / "folder"), std::system_error);
  EXPECT_THROW(save_profile(some_profile(), "/dev/full"), std::system_error);
  EXPECT_THAT(folder.listing(), ElementsAre("file", "folder"));
}

TEST(Profile, AFailedSaveIntoAReadOnlyFolderLeavesTheOldFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  const ScratchFolder folder;
  write_file(folder / "profile.json", "old");
  ASSERT_EQ(chmod(folder.path().c_str(), 0500), 0);
  EXPECT_THROW(save_profile(some_profile(), folder / "profile.json"), std::system_error);
  chmod(folder.path().c_str(), 0700);
  EXPECT_EQ(read_file(folder / "profile.json"), "old");
}

}  // namespace
}  // namespace posenc
