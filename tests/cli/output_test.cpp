// Output files appear whole or not at all, also if the command fails or is interrupted.
#include "command.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace posenc::test {
namespace {

TEST(Output, FullDevicesAreAnError) {
  for (const char* const line :
       {"generate --rows 3", "list", "accuracy --rows 4 --d-model 4 --format json"})
    expect_refused(run_line(std::string(line) + " --output /dev/full"), "/dev/full");
  for (const char* const line :
       {"generate --rows 3", "generate --rows 3 --format raw", "list", "--help", "--version"}) {
    const CommandResult result = run_line(line, {.out_file = "/dev/full"});
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_THAT(result.err, HasSubstr("No space left on device")) << line;
  }
}

TEST(Output, PathsThatCannotBeWrittenAreAnError) {
  const ScratchFolder folder;
  write_file(folder / "file", "a file");
  for (const std::string& path : {std::string("/nonexistent/table.csv"), folder.path().string(),
                                  (folder / "file/table.csv").string()})
    expect_refused(run_posenc(small_csv + Arguments{"--output", path}), path);
  expect_refused(run_posenc({"check", folder.path().string()}), "is a directory; allowed: a");
}

TEST(Output, ReplacesAnExistingFileOnlyWhenItIsWhole) {
  const ScratchFolder folder;
  write_file(folder / "table.csv", "old");
  const auto result = run_posenc(small_csv + Arguments{"--output", folder / "table.csv"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out + result.err, IsEmpty());
  EXPECT_EQ(read_file(folder / "table.csv"), small_csv_content);
  EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
}

TEST(Output, TakesNamesAsLongAsTheSystemDoes) {
  const ScratchFolder folder;
  const std::string name(255 - 4, 'n');
  const auto result = run_posenc(small_csv + Arguments{"--output", folder / (name + ".csv")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(folder.listing(), ElementsAre(name + ".csv"));
}

TEST(Output, FollowsLinksThatPointNowhereYet) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "elsewhere");
  std::filesystem::create_symlink("elsewhere/table.csv", folder / "link.csv");
  const Arguments command = small_csv + "--output";
  EXPECT_EQ(run_posenc(command + Arguments{folder / "link.csv"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.csv"));
  EXPECT_EQ(read_file(folder / "elsewhere/table.csv"), small_csv_content);
  std::filesystem::create_symlink("loop", folder / "loop");
  expect_refused(run_posenc(command + Arguments{folder / "loop"}), "symbolic links");
}

TEST(Interrupted, SignalsLeaveTheFileThatWasThereAndNoOther) {
  for (const int signal : {SIGINT, SIGPIPE, SIGUSR1}) {
    const ScratchFolder folder;
    write_file(folder / "table.csv", "precious");
    const auto result = interrupt_posenc(
        words("generate --rows 200000 --d-model 512 --output") + Arguments{folder / "table.csv"},
        folder.path(), signal);
    ASSERT_EQ(result.exit_code, 128 + signal);  // otherwise the file may be a table of 400 MB
    EXPECT_EQ(read_file(folder / "table.csv"), "precious");
    EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
  }
}

/// Runs a line of the shell, in which $POSENC is the command.
int shell(const std::string& line) {
  const std::string whole = std::string("POSENC=") + POSENC_COMMAND + "; " + line;
  const int status = std::system(whole.c_str());  // NOLINT
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(StandardError, ThatCannotBeWrittenChangesNoExitCode) {
  const ScratchFolder folder;
  for (const std::string closed : {" 2>/dev/full", " 2>&-"}) {
    EXPECT_EQ(shell("\"$POSENC\" --nonsense" + closed), 2);
    EXPECT_EQ(shell("\"$POSENC\" generate --nonsense" + closed), 2);
    // No backend promises so little.
    EXPECT_EQ(shell("\"$POSENC\" pick --cpu zen5 --max-ulp 0.1 >/dev/null" + closed), 1);
  }
  // A message does not become a part of the file that takes the number of the closed stream.
  const std::string file = folder / "table.csv";
  EXPECT_EQ(shell("\"$POSENC\" generate --rows 3 --d-model 4 --output '" + file + "' >&- 2>&-"), 0);
  EXPECT_EQ(std::ranges::count(read_file(file), '\n'), 3);
  EXPECT_EQ(shell("\"$POSENC\" list >&- 2>/dev/null"), 2);
}

TEST(Messages, AreOneShortPrintableLine) {
  const std::string name = "\u009b31m\u202e" + std::string(100'000, 'x');
  for (const Arguments& each : {Arguments{"generate", "--layout", name}, Arguments{"list", name},
                                Arguments{"check", name}, Arguments{"pick", name}}) {
    const auto result = run_posenc(each);
    expect_refused(result, "");
    EXPECT_LT(result.err.size(), 1100U);
    EXPECT_EQ(result.err.find_first_of("\x9b\xae"), std::string::npos);
  }
}

}  // namespace
}  // namespace posenc::test
