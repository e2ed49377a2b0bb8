// What the posenc command owes to people: pages that fit, colour and progress on terminals only,
// help, manual pages, completion, and no broken files after Ctrl-C.
#include "command.h"
#include "posenc/registry.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>

namespace posenc {
namespace {

using test::run_posenc;
using test::run_posenc_on_terminal;
using test::ScratchFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Arguments = std::vector<std::string>;

const Arguments commands = {"list", "accuracy", "pick", "profile", "generate", "compare"};

/// The longest line of a page, in characters.
std::string longest_line(const std::string& page) {
  std::string longest;
  std::istringstream lines(page);
  const auto width = [](const std::string& line) {
    return std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
  };
  for (std::string line; std::getline(lines, line);) {
    if (width(line) > width(longest)) longest = line;
  }
  return longest;
}

void expect_fits(const Arguments& arguments) {
  const auto result = run_posenc(arguments);
  EXPECT_THAT(result.out, Not(IsEmpty())) << result.err;
  const std::string line = longest_line(result.out);
  const auto characters = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
  EXPECT_LE(characters, 100) << line;
}

TEST(People, PagesFitAHundredColumns) {
  expect_fits({"list"});
  expect_fits({"accuracy", "--rows", "2000", "--d-model", "64", "--first", "1000000000000"});
  expect_fits({"accuracy", "--rows", "2000", "--d-model", "64", "--dtype", "bfloat16"});
  expect_fits({"accuracy", "--rows", "9", "--d-model", "8", "--first", "9007199254740000", "--base",
               "12345.678901234"});
  expect_fits({"accuracy", "--rows", "2000", "--d-model", "64", "--backend", "div_term"});
  expect_fits({"pick", "--preset", "stable_diffusion", "--processes", "2", "--force", "--explain"});
  expect_fits({"--help"});
  for (const std::string& each : commands) expect_fits({each, "--help"});
}

TEST(People, ComparisonsFitAHundredColumns) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json";
  ASSERT_EQ(run_posenc({"accuracy", "--rows", "9", "--d-model", "8", "--first", "9007199254740000",
                        "--format", "json", "--output", report})
                .exit_code,
            0);
  expect_fits({"compare", report, report});
}

TEST(People, EveryCommandsHelpHasAnExampleThatItTakes) {
  for (const std::string& each : commands) {
    const std::string help = run_posenc({each, "--help"}).out;
    EXPECT_THAT(
        help, AllOf(HasSubstr("Examples:\n"), HasSubstr("posenc " + each), HasSubstr("Exit codes")))
        << each;
  }
}

TEST(People, ManualPagesSayWhatHelpSays) {
  for (const std::string& each : commands) {
    const auto page = run_posenc({"--man", each});
    EXPECT_EQ(page.exit_code, 0);
    EXPECT_THAT(page.out, AllOf(HasSubstr(".TH posenc\\-" + each + " 1"), HasSubstr(".SH SYNOPSIS"),
                                HasSubstr(".SH OPTIONS"), HasSubstr(".SH EXAMPLES"),
                                HasSubstr("\\-\\-format")));
    EXPECT_THAT(page.out, HasSubstr("posenc " + each));
  }
  const auto main_page = run_posenc({"--man", "posenc"});
  for (const std::string& each : commands)
    EXPECT_THAT(main_page.out, HasSubstr("posenc\\-" + each));
  EXPECT_EQ(run_posenc({"--man", "lisst"}).exit_code, 2);
}

TEST(People, HelpAndManualPagesNameEnvironmentAndFiles) {
  Arguments pages = commands;
  pages.emplace_back("posenc");
  for (const std::string& each : pages) {
    const std::string help =
        run_posenc(each == "posenc" ? Arguments{"--help"} : Arguments{each, "--help"}).out;
    const std::string page = run_posenc({"--man", each}).out;
    EXPECT_THAT(help, AllOf(HasSubstr("\nEnvironment:\n"), HasSubstr("\nFiles:\n"))) << each;
    EXPECT_THAT(page, AllOf(HasSubstr(".SH ENVIRONMENT\n"), HasSubstr(".SH FILES\n"))) << each;
    for (const char* name : {"POSENC_BACKEND", "POSENC_PROFILE", "XDG_CONFIG_HOME", "HOME",
                             "NO_COLOR", "$XDG_CONFIG_HOME/posenc/profile.json"}) {
      EXPECT_THAT(help, HasSubstr(std::string("\n  ") + name)) << each;
      EXPECT_THAT(page, HasSubstr(std::string("\\fB") + name)) << each;
    }
  }
}

TEST(People, HelpKeepsTheLinesOfItsExamples) {
  // Formatters of some versions of the parser join them.
  EXPECT_THAT(run_posenc({"generate", "--help"}).out,
              HasSubstr("\nExamples:\n"
                        "  posenc generate --rows 3 --d-model 4\n"
                        "      the paper's first values, as csv\n"));
}

TEST(People, BashCompletesCommandsOptionsAndNames) {
  const ScratchFolder folder;
  const auto script = run_posenc({"--completion", "bash"});
  ASSERT_EQ(script.exit_code, 0);
  test::write_file(folder / "completion", script.out);
  const auto completed = [&](const std::string& words, int at) {
    const std::string command = "bash -c 'source " + (folder / "completion").string() +
                                "; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                                "; _posenc; echo \"${COMPREPLY[*]}\"' > " +
                                (folder / "offered").string();
    EXPECT_EQ(std::system(command.c_str()), 0);
    return test::read_file(folder / "offered");
  };
  test::write_file(folder / "words.csv", "");
  EXPECT_EQ(completed("posenc ac", 1), "accuracy\n");
  EXPECT_EQ(completed("posenc generate --output " + (folder / "wor").string(), 3),
            (folder / "words.csv").string() + "\n");
  EXPECT_EQ(completed("posenc generate --output = " + (folder / "wor").string(), 4),
            (folder / "words.csv").string() + "\n");
  EXPECT_EQ(completed("posenc compare " + (folder / "wor").string(), 2),
            (folder / "words.csv").string() + "\n");
  EXPECT_EQ(completed("posenc compare --forma", 2), "--format\n");
  EXPECT_EQ(completed("posenc generate --rows 1", 3), "\n") << "numbers have no names";
  // As bash splits --preset=whi, --preset=, rotation:sc and --backend=naive:sc by COMP_WORDBREAKS
  // ...
  EXPECT_EQ(completed("posenc generate --preset = whi", 4), "whisper\n");
  EXPECT_THAT(completed("posenc generate --preset =", 3), HasSubstr("whisper"));
  EXPECT_EQ(completed("posenc generate --backend naive : sc", 5), "scalar\n");
  EXPECT_EQ(completed("posenc generate --backend naive :", 4), "scalar\n");
  EXPECT_EQ(completed("posenc generate --backend = naive : sc", 6), "scalar\n");
  EXPECT_EQ(completed("posenc generate --backend naive : scalar --for", 6), "--format\n");
  // ... and as it leaves them where = and : are taken out of it.
  EXPECT_EQ(completed("posenc generate --preset=whi", 2), "--preset=whisper\n");
  EXPECT_EQ(completed("posenc generate --backend naive:sc", 3), "naive:scalar\n");
  EXPECT_EQ(completed("posenc pick --max", 2), "--max-error --max-ulp\n");
  EXPECT_EQ(completed("posenc generate --preset whi", 3), "whisper\n");
  EXPECT_EQ(completed("posenc accuracy --format j", 3), "json\n");
  EXPECT_THAT(completed("posenc accuracy --backend rot", 3), HasSubstr("rotation32"));
  EXPECT_EQ(run_posenc({"--completion", "tcsh"}).exit_code, 2);
}

TEST(People, ColourIsForTerminalsAndNeverWithNoColor) {
  const Arguments pick = {"pick", "--preset", "stable_diffusion", "--processes", "2", "--force"};
  const std::string escape = "\033[";
  EXPECT_THAT(run_posenc(pick).out, Not(HasSubstr(escape)));
  EXPECT_THAT(run_posenc_on_terminal(pick).out, HasSubstr(escape + "32m"));

  const ScratchFolder folder;
  const std::string report = folder / "report.json";
  ASSERT_EQ(run_posenc({"accuracy", "--rows", "9", "--d-model", "8", "--format", "json", "--output",
                        report})
                .exit_code,
            0);
  EXPECT_THAT(run_posenc_on_terminal({"compare", report, report}).out, HasSubstr(escape));
  EXPECT_THAT(run_posenc_on_terminal({"compare", report, report}, {{"NO_COLOR", "1"}}).out,
              Not(HasSubstr(escape)));
  EXPECT_THAT(run_posenc_on_terminal({"compare", report, report}, {{"TERM", "dumb"}}).out,
              Not(HasSubstr(escape)));
  ASSERT_EQ(
      run_posenc_on_terminal({"compare", report, report, "--output", folder / "page"}).exit_code,
      0);
  EXPECT_THAT(test::read_file(folder / "page"), Not(HasSubstr(escape)));
}

TEST(People, ProgressSaysWhatIsLeftOnTerminalsOnly) {
  const Arguments slow = {"accuracy", "--backend", "naive",     "--threads", "1",
                          "--rows",   "16384",     "--d-model", "512"};
  EXPECT_THAT(run_posenc(slow).err, IsEmpty());
  const auto seen = run_posenc_on_terminal(slow);
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_THAT(seen.out, AllOf(HasSubstr(" %"), HasSubstr(" s left"), HasSubstr("measuring")));
}

TEST(People, CtrlCLeavesTheFileThatWasThereAndNoOther) {
  const ScratchFolder folder;
  test::write_file(folder / "table.csv", "precious");
  const auto result = test::interrupt_posenc(
      {"generate", "--rows", "200000", "--d-model", "512", "--output", folder / "table.csv"},
      folder.path());
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
  EXPECT_EQ(test::read_file(folder / "table.csv"), "precious");
  EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
}

TEST(People, TheNextRunRemovesWhatAKilledOneLeft) {
  const ScratchFolder folder;
  const Arguments small = {"generate",          "--rows", "3", "--d-model", "4", "--output",
                           folder / "table.csv"};
  const auto killed = test::interrupt_posenc(
      {"generate", "--rows", "200000", "--d-model", "512", "--output", folder / "table.csv"},
      folder.path(), SIGKILL);
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL);
  EXPECT_EQ(folder.listing().size(), 1U) << "a killed process cannot remove its own";
  EXPECT_EQ(run_posenc(small).exit_code, 0);
  EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
}

}  // namespace
}  // namespace posenc
