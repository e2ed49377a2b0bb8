// Output on a terminal: at most 100 columns, and progress; and the text of --help, from which
// help2man makes the manual pages.
#include "command.h"
#include "posenc/version.h"

#include <algorithm>
#include <sstream>

namespace posenc::test {
namespace {

const Arguments commands = words("list accuracy measure pick generate check compare");

std::ptrdiff_t characters(const std::string& line) {
  return std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
}

void expect_fits(const Arguments& arguments) {
  const auto result = run_posenc(arguments);
  EXPECT_THAT(result.out, Not(IsEmpty())) << result.err;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(characters(line), 100) << line;
}

TEST(Pages, FitAHundredColumns) {
  expect_fits({"list"});
  expect_fits({"accuracy", "--rows", "2000", "--d-model", "64", "--first", "1000000000000"});
  expect_fits({"accuracy", "--rows", "2000", "--d-model", "64", "--dtype", "bfloat16"});
  expect_fits({"accuracy", "--rows", "9", "--d-model", "8", "--first", "9007199254740000", "--base",
               "12345.678901234"});
  expect_fits({"accuracy", "--rows", "2000", "--d-model", "64", "--backend", "div_term"});
  expect_fits({"pick", "--preset", "stable_diffusion", "--processes", "2"});
  for (const char* const name : {"Zen 3", "Zen 5", "Emerald Rapids"})
    expect_fits({"pick", "--cpu", name});
  expect_fits({"list", "--cpus"});
  expect_fits({"--help"});
  for (const std::string& each : commands) expect_fits({each, "--help"});
}

TEST(Pages, OfFilesFitAHundredColumns) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json", table = folder / "table.npy";
  write_accuracy_report(report, {"--first", "9007199254740000"});
  expect_fits({"compare", report, report});
  run_posenc(words("generate --rows 60 --d-model 32 --base 500000 --frequencies llama3 --output") +
             Arguments{table});
  expect_fits({"check", table});
  expect_fits({"check", table, "--base", "10000", "--first", "3"});
}

TEST(Progress, ShowsTheTimeLeftOnTerminalsOnly) {
  const Arguments slow = words("accuracy --backend naive --threads 1 --rows 16384 --d-model 512");
  EXPECT_THAT(run_posenc(slow).err, IsEmpty());
  const auto seen = run_posenc_on_terminal(slow);
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_THAT(seen.out, AllOf(HasSubstr(" %"), HasSubstr(" s left"), HasSubstr("measuring")));
}

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
                    Not(HasSubstr("Excludes")),
                    HasSubstr("\nExamples:\n"
                              "  posenc generate --rows 3 --d-model 4\n"
                              "                        the paper's first values, as csv\n")));
}

}  // namespace
}  // namespace posenc::test
