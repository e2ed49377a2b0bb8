// Output on a terminal: at most 100 columns, and progress; and the text of --help, from which
// help2man makes the manual pages.
#include "command.h"
#include "posenc/version.h"

#include <algorithm>
#include <sstream>

namespace posenc::test {
namespace {

const Arguments commands = words("list accuracy measure pick compare generate check");

/// Expects lines of at most 100 characters.
void expect_fits(const std::string& line) {
  const auto result = run_line(line);
  EXPECT_THAT(result.out, Not(IsEmpty())) << result.err;
  std::istringstream lines(result.out);
  for (std::string each; std::getline(lines, each);) {
    EXPECT_LE(std::ranges::count_if(each, [](char c) { return (c & 0xc0) != 0x80; }), 100)
        << line << ":\n"
        << each;
  }
}

TEST(Pages, FitAHundredColumns) {
  for (const char* const line :
       {"list", "list --presets", "list --cpus", "list --models", "--help",
        "accuracy --rows 2000 --d-model 64 --first 1000000000000",
        "accuracy --rows 2000 --d-model 64 --dtype bfloat16",
        "accuracy --rows 9 --d-model 8 --first 9007199254740000 --base 12345.678901234",
        "accuracy --rows 2000 --d-model 64 --backend div_term",
        "pick --preset stable_diffusion --processes 2", "pick --cpu zen3", "pick --cpu zen5",
        "pick --cpu emeraldrapids"})
    expect_fits(line);
  for (const std::string& each : commands) expect_fits(each + " --help");
}

TEST(Pages, OfFilesFitAHundredColumns) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json", table = folder / "table.npy";
  run_line("accuracy --rows 100 --d-model 8 --first 9007199254740000 --output " + report);
  expect_fits("compare " + report + " " + report);
  run_line("generate --rows 60 --d-model 32 --base 500000 --frequencies llama3 --output " + table);
  expect_fits("check " + table);
  expect_fits("check " + table + " --base 10000 --first 3");
}

TEST(Progress, ShowsTheTimeLeftOnTerminalsOnly) {
  const Arguments slow = words("accuracy --backend naive --threads 1 --rows 16384 --d-model 512");
  EXPECT_THAT(run_posenc(slow).err, IsEmpty());
  const auto seen = run_posenc_on_terminal(slow);
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_THAT(seen.out, AllOf(HasSubstr(" %"), HasSubstr(" s left"), HasSubstr("measuring")));
}

TEST(Help, EveryCommandHasExamplesEnvironmentAndExitStatus) {
  const std::string main_help = run_line("--help").out;
  const std::string common = main_help.substr(main_help.find("\nEnvironment:\n"));
  EXPECT_THAT(common, AllOf(HasSubstr("\n  POSENC_BACKEND "), HasSubstr("\nExit status:\n  0 ")));
  for (const std::string& each : commands) {
    const CommandResult help = run_line(each + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.err, IsEmpty());
    EXPECT_THAT(help.out, HasSubstr("\nExamples:\n  posenc " + each)) << each;
    EXPECT_EQ(help.out.substr(help.out.find("\nEnvironment:\n")), common) << each;
  }
  EXPECT_THAT(run_line("--version").out, HasSubstr(library_version()));
}

TEST(Help, KeepsTheLinesOfItsExamples) {
  // The formatters of some CLI11 versions join lines, and some leave "Usage:" out.
  EXPECT_THAT(run_line("generate --help").out,
              AllOf(HasSubstr("\n\nUsage: posenc generate [OPTIONS]\n\nOptions:\n"),
                    Not(HasSubstr("Excludes")),
                    HasSubstr("\nExamples:\n"
                              "  posenc generate --rows 3 --d-model 4\n"
                              "                        the first values of the paper, as csv\n")));
}

}  // namespace
}  // namespace posenc::test
