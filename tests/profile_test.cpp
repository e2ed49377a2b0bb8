#include "posenc/profile.h"

#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <system_error>

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

ProfilePick some_pick(ShapeClass shape, int threads, std::string backend) {
  return {.shape = shape,
          .threads = threads,
          .backend = std::move(backend),
          .isa = Isa::scalar,
          .ties = {"naive:scalar"},
          .gfloats_per_second = 1.25,
          .spread = 0.03125,
          .noise_floor = 0.0625,
          .next = "xsimd:sse2",
          .margin = -0.125,
          .max_abs = 2.98e-8,
          .max_ulp = 0.5,
          .budget = {1, ErrorBudget::Measure::ulp},
          .shapes = {"tutorial", "whisper"}};
}

Profile some_profile() {
  Profile profile = profile_of_this_machine();
  profile.picks = {some_pick(ShapeClass::l2, 1, "rotation"), some_pick(ShapeClass::memory, 2, "xsimd")};
  return profile;
}

void expect_equal(const ProfilePick& a, const ProfilePick& b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.backend, b.backend);
  EXPECT_EQ(a.isa, b.isa);
  EXPECT_EQ(a.ties, b.ties);
  EXPECT_EQ(a.gfloats_per_second, b.gfloats_per_second);
  EXPECT_EQ(a.spread, b.spread);
  EXPECT_EQ(a.max_abs, b.max_abs);
  EXPECT_EQ(a.noise_floor, b.noise_floor);
  EXPECT_EQ(a.next, b.next);
  EXPECT_EQ(a.margin, b.margin);
  EXPECT_EQ(a.max_ulp, b.max_ulp);
  EXPECT_EQ(a.budget, b.budget);
  EXPECT_EQ(a.shapes, b.shapes);
}

/// The reason why a file of that content is not used.
std::string reason_of(const std::string& content) {
  const ScratchFolder folder;
  write_file(folder / "profile.json", content);
  const LoadedProfile loaded = load_profile(folder / "profile.json");
  EXPECT_FALSE(loaded.profile.has_value()) << content;
  EXPECT_EQ(loaded.reason.find('\n'), std::string::npos) << loaded.reason;
  return loaded.reason;
}

/// A saved profile as JSON, to be spoiled.
json saved() {
  const ScratchFolder folder;
  save_profile(some_profile(), folder / "profile.json");
  return json::parse(read_file(folder / "profile.json"));
}

TEST(Profile, ComesBackAsItWasSaved) {
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
  ASSERT_EQ(loaded->picks.size(), 2U);
  expect_equal(loaded->picks[0], profile.picks[0]);
  expect_equal(loaded->picks[1], profile.picks[1]);
  EXPECT_THAT(folder.listing(), ElementsAre("profile.json")) << "no temporary file stays";
}

TEST(Profile, IsJsonWithAVersion) {
  const json document = saved();
  EXPECT_EQ(document.at("version"), Profile::format_version);
  EXPECT_EQ(document.at("cpu").at("model"), profile_of_this_machine().cpu_model);
  EXPECT_EQ(document.at("picks").size(), 2U);
  EXPECT_EQ(document.at("picks").at(0).at("backend"), "rotation");
}

TEST(Profile, KeepsABudgetOfEitherMeasure) {
  const ScratchFolder folder;
  for (const ErrorBudget budget :
       {ErrorBudget{1e-6, ErrorBudget::Measure::absolute}, ErrorBudget{0.5, ErrorBudget::Measure::ulp}}) {
    Profile profile = some_profile();
    profile.picks.front().budget = budget;
    save_profile(profile, folder / "profile.json");
    EXPECT_EQ(load_profile(folder / "profile.json").profile->picks.front().budget, budget);
  }
}

TEST(Profile, MakesMissingFoldersAndReplacesWhatWasThere) {
  const ScratchFolder folder;
  const auto file = folder / "a" / "b" / "profile.json";
  save_profile(some_profile(), file);
  Profile smaller = some_profile();
  smaller.picks.pop_back();
  save_profile(smaller, file);
  EXPECT_EQ(load_profile(file).profile->picks.size(), 1U);
}

TEST(Profile, MergeReplacesTheSamePlacesAndKeepsTheOthers) {
  Profile older = profile_of_this_machine();
  older.compiler = "an older one";
  older.picks = {some_pick(ShapeClass::l1, 1, "naive"), some_pick(ShapeClass::l2, 1, "naive"),
                 some_pick(ShapeClass::l2, 2, "naive")};
  Profile newer = profile_of_this_machine();
  newer.picks = {some_pick(ShapeClass::l2, 1, "rotation"), some_pick(ShapeClass::memory, 1, "rotation")};

  const Profile merged = merge(older, newer);
  EXPECT_EQ(merged.compiler, newer.compiler);
  std::vector<std::string> picks;
  for (const ProfilePick& each : merged.picks) {
    picks.push_back(std::string(to_string(each.shape)) + " " + std::to_string(each.threads) + " " + each.backend);
  }
  EXPECT_THAT(picks, testing::UnorderedElementsAre("l1 1 naive", "l2 1 rotation", "l2 2 naive", "memory 1 rotation"));
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

TEST(Profile, TruncatedFilesGiveAReasonWhereverTheyEnd) {
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
  EXPECT_THAT(spoiled("/picks"_json_pointer, json::object()), HasSubstr("picks"));
  EXPECT_THAT(spoiled("/picks/0/backend"_json_pointer, 7), HasSubstr("picks[0].backend"));
  EXPECT_THAT(spoiled("/picks/1/isa"_json_pointer, "sse9"), AllOf(HasSubstr("picks[1].isa"), HasSubstr("sse9")));
  EXPECT_THAT(spoiled("/picks/1/shape_class"_json_pointer, "l9"), HasSubstr("picks[1].shape_class"));
  EXPECT_THAT(spoiled("/picks/0/threads"_json_pointer, 0), HasSubstr("picks[0].threads"));
  EXPECT_THAT(spoiled("/picks/0/threads"_json_pointer, 1.5), HasSubstr("picks[0].threads"));
  EXPECT_THAT(spoiled("/picks/0/max_abs"_json_pointer, -1), HasSubstr("picks[0].max_abs"));
  EXPECT_THAT(spoiled("/picks/0/noise_floor"_json_pointer, -1), HasSubstr("picks[0].noise_floor"));
  EXPECT_THAT(spoiled("/picks/0/margin"_json_pointer, "2 %"), HasSubstr("picks[0].margin"));
  EXPECT_THAT(spoiled("/picks/0/next"_json_pointer, 5), HasSubstr("picks[0].next"));
  EXPECT_THAT(spoiled("/picks/0/budget"_json_pointer, 1e-6), HasSubstr("picks[0].budget"));
  EXPECT_THAT(spoiled("/picks/0/budget"_json_pointer, {{"max_ulps", 1}}), HasSubstr("picks[0].budget.max_error"));
  json without = saved();
  without.erase("compiler");
  EXPECT_THAT(reason_of(without.dump()), HasSubstr("compiler"));
}

TEST(Profile, OtherVersionsAndOtherCpusAreIgnored) {
  json document = saved();
  document["version"] = Profile::format_version + 1;
  EXPECT_THAT(reason_of(document.dump()), HasSubstr("version is 3"));

  document = saved();
  document["library_version"] = "99.0.0";
  EXPECT_THAT(reason_of(document.dump()), HasSubstr("99.0.0"));

  document = saved();
  document["cpu"]["model"] = "Another CPU 9000";
  EXPECT_THAT(reason_of(document.dump()),
              AllOf(HasSubstr("Another CPU 9000"), HasSubstr(profile_of_this_machine().cpu_model)));

  document = saved();
  document["cpu"]["features"] = {"scalar"};
  EXPECT_THAT(reason_of(document.dump()), HasSubstr("scalar"));
}

TEST(Profile, WhatIsNoReadableFileGivesAReason) {
  const ScratchFolder folder;
  EXPECT_THAT(load_profile(folder.path()).reason, HasSubstr("not a regular file"));
  EXPECT_FALSE(load_profile("/dev/null").profile.has_value());
  save_profile(some_profile(), folder / "closed.json");
  ASSERT_EQ(chmod((folder / "closed.json").c_str(), 0), 0);
  if (geteuid() != 0) {  // root reads everything
    EXPECT_THAT(load_profile(folder / "closed.json").reason, HasSubstr("cannot be read"));
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

TEST(Profile, AFailedSaveIntoAClosedFolderLeavesTheOldFile) {
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
