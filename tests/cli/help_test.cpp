// The text of --help, from which help2man makes the manual pages.
#include "command.h"
#include "posenc/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace posenc {
namespace {

using test::Arguments;
using test::CommandResult;
using test::run_posenc;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

const Arguments commands = {"list", "accuracy", "measure", "pick", "generate", "compare"};

TEST(Help, IsOnStandardOutput) {
  for (const Arguments& command :
       {Arguments{"--help"}, Arguments{"generate", "--help"}, Arguments{"pick", "--help"},
        Arguments{"accuracy", "--help"}, Arguments{"compare", "--help"}}) {
    const CommandResult result = run_posenc(command);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("--help"));
    EXPECT_THAT(result.err, IsEmpty());
  }
  EXPECT_THAT(run_posenc({"--version"}).out, HasSubstr(library_version()));
}

TEST(Help, EveryCommandHasExamplesAndExitStatus) {
  for (const std::string& each : commands) {
    const std::string help = run_posenc({each, "--help"}).out;
    EXPECT_THAT(help,
                AllOf(HasSubstr("\nExamples:\n  posenc " + each), HasSubstr("\nExit status:\n")))
        << each;
  }
}

TEST(Help, HasEnvironmentFilesAndExitStatus) {
  const std::string main_help = run_posenc({"--help"}).out;
  const std::string common = main_help.substr(main_help.find("\nEnvironment:\n"));
  for (const char* name : {"POSENC_BACKEND", "POSENC_PROFILE", "XDG_CONFIG_HOME", "HOME",
                           "$XDG_CONFIG_HOME/posenc/profile.json", "0", "1", "2"}) {
    EXPECT_THAT(common, HasSubstr(std::string("\n  ") + name));
  }
  EXPECT_THAT(common, AllOf(HasSubstr("\nFiles:\n"), HasSubstr("\nExit status:\n")));
  for (const std::string& each : commands) {
    const std::string help = run_posenc({each, "--help"}).out;
    EXPECT_EQ(help.substr(help.find("\nEnvironment:\n")), common) << each;
  }
}

TEST(Help, KeepsTheLinesOfItsExamples) {
  // The formatters of some CLI11 versions join lines, and some leave "Usage:" out.
  EXPECT_THAT(run_posenc({"generate", "--help"}).out,
              HasSubstr("\n\nUsage: posenc generate [OPTIONS]\n\nOptions:\n"));
  EXPECT_THAT(run_posenc({"generate", "--help"}).out,
              HasSubstr("\nExamples:\n"
                        "  posenc generate --rows 3 --d-model 4\n"
                        "                        the paper's first values, as csv\n"));
}

}  // namespace
}  // namespace posenc
