// posenc profile.
#include "posenc/profile.h"
#include "command.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace posenc {
namespace {

using nlohmann::json;
using test::Arguments;
using test::operator+;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProfileCommand, ShowsAndForgetsTheProfile) {
  const ScratchFolder folder;
  const std::string file = folder / "profile.json";
  const test::Environment environment = {{"POSENC_PROFILE", file}};
  const auto posenc_profile = [&](const Arguments& more) {
    const auto result = run_posenc(Arguments{"profile"} + more, {.environment = environment});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(posenc_profile({}), AllOf(HasSubstr("None in use"), HasSubstr("no profile at")));
  EXPECT_THAT(posenc_profile({"--forget"}), HasSubstr("No profile to forget"));
  for (const bool is_valid : {true, false}) {
    save_profile(profile_of_this_machine(), file);
    if (!is_valid) write_file(file, "{ \"version\": 2 }");
    EXPECT_THAT(posenc_profile({}),
                HasSubstr(is_valid ? "kernels" : "run posenc pick --save again"));
    EXPECT_EQ(json::parse(posenc_profile({"--format", "json"})).at("profile").at("valid"),
              is_valid);
    EXPECT_THAT(posenc_profile({"--forget"}), AllOf(HasSubstr("Profile removed"), HasSubstr(file)));
    EXPECT_THAT(folder.listing(), IsEmpty());
  }
  std::filesystem::create_directory(file);
  EXPECT_EQ(run_posenc({"profile", "--forget"}, {.environment = environment}).exit_code, 2);
  EXPECT_EQ(run_posenc({"profile", "--forget", "--output", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace posenc
