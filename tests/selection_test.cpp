// Which backend is used when the caller does not say. The library reads its environment once, so that each case is a process.
#include "command.h"
#include "posenc/cpu.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

namespace posenc {
namespace {

using nlohmann::json;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::string best_rotation() { return backend("rotation").full_name(); }

struct Used {
  std::string backend;  // "rotation:avx2"
  std::string source;
  std::string reason;
};

/// What `posenc list` says is used for tables of that shape class.
Used used_for(ShapeClass shape, const std::map<std::string, std::string>& environment) {
  const auto result = run_posenc({"list", "--format", "json"}, {.environment = environment, .out_file = {}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  for (const json& each : document.at("used")) {
    if (each.at("shape_class") == to_string(shape)) {
      return {each.at("backend").get<std::string>() + ":" + each.at("isa").get<std::string>(), each.at("source"),
              each.at("reason")};
    }
  }
  ADD_FAILURE() << "no shape class " << to_string(shape);
  return {};
}

/// A valid profile of this machine that picks one backend for one shape class.
void save_pick(const std::filesystem::path& file, ShapeClass shape, std::string name, Isa isa) {
  Profile profile = profile_of_this_machine();
  ProfilePick& pick = profile.picks.emplace_back();
  pick.shape = shape;
  pick.backend = std::move(name);
  pick.isa = isa;
  save_profile(profile, file);
}

TEST(Selection, IsRotationAtTheBestIsaByDefault) {
  const Used used = used_for(ShapeClass::l2, {});
  EXPECT_EQ(used.backend, best_rotation());
  EXPECT_EQ(used.source, "built_in");
  EXPECT_THAT(used.reason, AllOf(HasSubstr("default"), HasSubstr("no profile")));

  const Selection here = select_backend({.d_model = 512}, {0, 5000});
  EXPECT_EQ(here.backend->full_name(), best_rotation());
  EXPECT_EQ(here.source, SelectionSource::built_in);
  EXPECT_THAT(here.reason, testing::Not(IsEmpty()));
}

TEST(Selection, TheEnvironmentNamesAMethodOrAFullName) {
  for (const auto& [value, expected] : std::map<std::string, std::string>{
           {"naive", "naive:scalar"}, {"div_term:scalar", "div_term:scalar"}, {"rotation", best_rotation()}}) {
    const Used used = used_for(ShapeClass::memory, {{"POSENC_BACKEND", value}});
    EXPECT_EQ(used.backend, expected);
    EXPECT_EQ(used.source, "environment");
    EXPECT_THAT(used.reason, HasSubstr("POSENC_BACKEND"));
  }
}

TEST(Selection, AnEmptyEnvironmentVariableIsNoChoice) {
  EXPECT_EQ(used_for(ShapeClass::l1, {{"POSENC_BACKEND", ""}}).source, "built_in");
}

TEST(Selection, AnUnknownNameInTheEnvironmentIsAnErrorAndNeverAFallback) {
  const std::vector<std::vector<std::string>> commands = {
      {"list"}, {"generate", "--rows", "3", "--d-model", "4"}, {"generate", "--rows", "3", "--isa", "scalar"}};
  for (const auto& command : commands) {
    for (const char* value : {"nonsense", "rotation:nonsense", "naive:avx2", " "}) {
      const auto result = run_posenc(command, {.environment = {{"POSENC_BACKEND", value}}, .out_file = {}});
      EXPECT_EQ(result.exit_code, 2) << command.front() << ", " << value;
      EXPECT_THAT(result.out, IsEmpty());
      EXPECT_THAT(result.err, AllOf(HasSubstr("POSENC_BACKEND"), HasSubstr("allowed")));
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
  }
}

TEST(Selection, ABackendThatCannotRunHereIsAnError) {
#if defined(__x86_64__)
  if (cpu_has(Isa::avx512)) GTEST_SKIP() << "every backend of this build runs here";
  const auto result =
      run_posenc({"generate", "--rows", "1"}, {.environment = {{"POSENC_BACKEND", "rotation:avx512"}}, .out_file = {}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("avx512"));
#else
  GTEST_SKIP() << "every backend of this build runs here";
#endif
}

TEST(Selection, ExplicitChoicesBeatTheEnvironment) {
  const std::vector<std::string> shape = {"--rows", "5", "--d-model", "64", "--first", "100000", "--format", "raw"};
  const auto table = [&](std::vector<std::string> choice, const std::map<std::string, std::string>& environment) {
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), shape.begin(), shape.end());
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    return run_posenc(arguments, {.environment = environment, .out_file = {}}).out;
  };
  const std::string rotation = table({"--backend", "rotation"}, {});
  const std::string div_term = table({"--backend", "div_term"}, {});
  ASSERT_NE(rotation, div_term);
  EXPECT_EQ(table({}, {}), rotation);
  EXPECT_EQ(table({}, {{"POSENC_BACKEND", "div_term"}}), div_term);
  EXPECT_EQ(table({"--backend", "rotation"}, {{"POSENC_BACKEND", "div_term"}}), rotation);
}

TEST(Selection, AValidProfileDecidesForItsShapeClassOnly) {
  const ScratchFolder folder;
  save_pick(folder / "profile.json", ShapeClass::l2, "naive", Isa::scalar);
  const std::map<std::string, std::string> environment = {{"POSENC_PROFILE", (folder / "profile.json").string()}};

  const Used picked = used_for(ShapeClass::l2, environment);
  EXPECT_EQ(picked.backend, "naive:scalar");
  EXPECT_EQ(picked.source, "profile");

  const Used not_picked = used_for(ShapeClass::memory, environment);
  EXPECT_EQ(not_picked.backend, best_rotation());
  EXPECT_EQ(not_picked.source, "built_in");
  EXPECT_THAT(not_picked.reason, HasSubstr("no pick"));
}

TEST(Selection, TheEnvironmentBeatsTheProfile) {
  const ScratchFolder folder;
  save_pick(folder / "profile.json", ShapeClass::l2, "naive", Isa::scalar);
  const Used used = used_for(ShapeClass::l2,
                             {{"POSENC_PROFILE", (folder / "profile.json").string()}, {"POSENC_BACKEND", "div_term"}});
  EXPECT_EQ(used.backend, "div_term:scalar");
  EXPECT_EQ(used.source, "environment");
}

TEST(Selection, AnUnusableProfileIsIgnoredAndItIsSaidWhy) {
  const ScratchFolder folder;
  const std::map<std::string, std::string> environment = {{"POSENC_PROFILE", (folder / "profile.json").string()}};
  const auto expect_ignored = [&](const std::string& why) {
    const Used used = used_for(ShapeClass::l2, environment);
    EXPECT_EQ(used.backend, best_rotation());
    EXPECT_EQ(used.source, "built_in");
    EXPECT_THAT(used.reason, HasSubstr(why));
    EXPECT_THAT(run_posenc({"list"}, {.environment = environment, .out_file = {}}).out, HasSubstr(why));
  };
  write_file(folder / "profile.json", "{ \"version\": 2, ");
  expect_ignored("corrupt");

  save_pick(folder / "profile.json", ShapeClass::l2, "naive", Isa::scalar);
  json document = json::parse(test::read_file(folder / "profile.json"));
  document["cpu"]["model"] = "Another CPU 9000";
  write_file(folder / "profile.json", document.dump());
  expect_ignored("Another CPU 9000");

  document["version"] = Profile::format_version + 1;
  write_file(folder / "profile.json", document.dump());
  expect_ignored("version");
}

TEST(Selection, AProfileOfABackendThatIsNotHereIsNotUsed) {
  const ScratchFolder folder;
  save_pick(folder / "profile.json", ShapeClass::l2, "discontinued", Isa::scalar);
  const Used used = used_for(ShapeClass::l2, {{"POSENC_PROFILE", (folder / "profile.json").string()}});
  EXPECT_EQ(used.backend, best_rotation());
  EXPECT_THAT(used.reason, HasSubstr("discontinued"));
}

TEST(Selection, TheProfileIsLookedForWhereItBelongs) {
  const ScratchFolder folder;
  const auto in_xdg = folder / "xdg" / "posenc" / "profile.json";
  const auto in_home = folder / "home" / ".config" / "posenc" / "profile.json";
  save_pick(in_xdg, ShapeClass::l2, "naive", Isa::scalar);
  save_pick(in_home, ShapeClass::l2, "div_term", Isa::scalar);
  const auto used = [&](const std::string& xdg) {
    return used_for(ShapeClass::l2,
                    {{"POSENC_PROFILE", ""}, {"XDG_CONFIG_HOME", xdg}, {"HOME", (folder / "home").string()}})
        .backend;
  };
  EXPECT_EQ(used((folder / "xdg").string()), "naive:scalar");
  EXPECT_EQ(used(""), "div_term:scalar");
}

/// The backend of a layer where a profile picks naive, which cannot add, for every shape.
std::string backend_of_layer(EncodingSource source) {
  const ScratchFolder folder;
  Profile profile = profile_of_this_machine();
  for (const ShapeClass shape : {ShapeClass::l1, ShapeClass::l2, ShapeClass::l3, ShapeClass::memory}) {
    ProfilePick& pick = profile.picks.emplace_back();
    pick.shape = shape;
    pick.backend = "naive";
    pick.isa = Isa::scalar;
  }
  save_profile(profile, folder / "profile.json");
  setenv("POSENC_PROFILE", (folder / "profile.json").c_str(), 1);
  const EncodingSpec spec = {.d_model = 64};
  const std::string picked = select_backend(spec, {0, 100}).backend->full_name();
  const PositionalEncoding layer(spec, 100, 0.0, source);
  return picked + ", layer: " + std::string(layer.encoder().backend());
}

TEST(SelectionDeathTest, LayersAddWithRotationWhereTheProfilesPickCannot) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not read its environment
  for (const EncodingSource source : {EncodingSource::fused, EncodingSource::cached, EncodingSource::automatic}) {
    EXPECT_EXIT(std::exit(backend_of_layer(source) == "naive:scalar, layer: rotation" ? 0 : 1),
                testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace posenc
