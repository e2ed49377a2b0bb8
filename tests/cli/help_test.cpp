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
using test::words;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Arguments commands = words("list accuracy measure pick generate check compare");

TEST(Help, EveryCommandHasExamplesEnvironmentAndExitStatus) {
  const std::string main_help = run_posenc(words("--help")).out;
  const std::string common = main_help.substr(main_help.find("\nEnvironment:\n"));
  EXPECT_THAT(common, AllOf(HasSubstr("\n  POSENC_BACKEND "), HasSubstr("\nExit status:\n  0 ")));
  for (const std::string& each : commands) {
    const CommandResult help = run_posenc({each, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.err, IsEmpty());
    EXPECT_THAT(help.out, HasSubstr("\nExamples:\n  posenc " + each)) << each;
    EXPECT_EQ(help.out.substr(help.out.find("\nEnvironment:\n")), common) << each;
  }
  EXPECT_THAT(run_posenc(words("--version")).out, HasSubstr(library_version()));
}

TEST(Help, KeepsTheLinesOfItsExamples) {
  // The formatters of some CLI11 versions join lines, and some leave "Usage:" out.
  EXPECT_THAT(run_posenc(words("generate --help")).out,
              AllOf(HasSubstr("\n\nUsage: posenc generate [OPTIONS]\n\nOptions:\n"),
                    Not(HasSubstr("Excludes"))));
  EXPECT_THAT(run_posenc(words("generate --help")).out,
              HasSubstr("\nExamples:\n"
                        "  posenc generate --rows 3 --d-model 4\n"
                        "                        the paper's first values, as csv\n"));
}

}  // namespace
}  // namespace posenc
