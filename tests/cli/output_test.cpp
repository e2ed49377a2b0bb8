// Output files appear whole or not at all, also if the command fails or is interrupted.
#include "command.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace posenc::test {
namespace {

TEST(Output, FullDevicesAreAnError) {
  expect_refused(run_posenc(small_csv + "--output /dev/full"), "/dev/full");
  expect_refused(run_posenc(words("list --output /dev/full")), "/dev/full");
  expect_refused(
      run_posenc(words("accuracy --rows 4 --d-model 4 --format json --output /dev/full")),
      "/dev/full");
}

TEST(Output, AFullStandardOutputIsAnError) {
  for (const Arguments& command :
       {small_csv, small_raw, Arguments{"list"}, Arguments{"--help"}, Arguments{"--version"}}) {
    const CommandResult result = run_posenc(command, {.out_file = "/dev/full"});
    EXPECT_EQ(result.exit_code, 2) << command.front();
    EXPECT_THAT(result.err, HasSubstr("No space left on device")) << command.front();
  }
}

TEST(Output, PathsThatCannotBeWrittenAreAnError) {
  expect_refused(run_posenc(small_csv + "--output /nonexistent/table.csv"),
                 "/nonexistent/table.csv");
  const ScratchFolder folder;
  expect_refused(run_posenc(small_csv + Arguments{"--output", folder.path()}), folder.path());
  write_file(folder / "file", "a file");
  expect_refused(run_posenc(small_csv + Arguments{"--output", folder / "file" / "table.csv"}),
                 "table.csv");
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

TEST(Output, AFolderIsNoDeviceAndNoPipe) {
  const ScratchFolder folder;
  expect_refused(run_posenc({"check", folder.path().string()}), "is a directory; allowed: a");
}

TEST(Interrupted, SignalsThatEndAProgramLeaveNoFile) {
  for (const char* const signal : {"XCPU", "PIPE", "ALRM", "USR1", "USR2", "VTALRM"}) {
    const ScratchFolder folder;
    const std::string line = std::string("ulimit -c 0; '") + POSENC_COMMAND +
                             "' generate --rows 200000 --d-model 512 --output " +
                             (folder / "table.csv").string() +
                             " 2>/dev/null & for i in $(seq 500); do sleep 0.01; [ -n \"$(ls -A " +
                             folder.path().string() + ")\" ] && break; done; kill -" + signal +
                             " $!; wait $!; " + "[ $? -gt 128 ]";
    EXPECT_EQ(std::system(line.c_str()), 0) << signal;  // NOLINT
    EXPECT_THAT(folder.listing(), IsEmpty()) << signal;
  }
}

TEST(Interrupted, CtrlCLeavesTheFileThatWasThereAndNoOther) {
  const ScratchFolder folder;
  write_file(folder / "table.csv", "precious");
  const auto result = interrupt_posenc(
      {"generate", "--rows", "200000", "--d-model", "512", "--output", folder / "table.csv"},
      folder.path());
  ASSERT_EQ(result.exit_code, 128 + SIGINT);  // otherwise the file may be a table of 400 MB
  EXPECT_EQ(read_file(folder / "table.csv"), "precious");
  EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
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

/// Runs a line of the shell, in which $POSENC is the command.
int shell(const std::string& line) {
  const std::string whole = std::string("POSENC=") + POSENC_COMMAND + "; " + line;
  const int status = std::system(whole.c_str());  // NOLINT
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(StandardError, ThatCannotBeWrittenChangesNoExitCode) {
  const ScratchFolder folder;
  for (const char* const closed : {" 2>/dev/full", " 2>&-"}) {
    for (const char* const command :
         {"", "list", "accuracy", "measure", "pick", "generate", "check", "compare"}) {
      const std::string line = std::string("\"$POSENC\" ") + command + " --nonsense";
      EXPECT_EQ(shell(line + closed), 2) << line << closed;
    }
    // No backend promises so little.
    EXPECT_EQ(shell(std::string("\"$POSENC\" pick --cpu zen5 --max-ulp 0.1 >/dev/null") + closed),
              1);
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
