// Output files appear whole or not at all, also if the command fails or is interrupted.
#include "command.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace posenc {
namespace {

using test::Arguments;
using test::CommandResult;
using test::expect_refused;
using test::operator+;
using test::read_file;
using test::run_posenc;
using test::ScratchFolder;
using test::small_csv;
using test::small_csv_with_five_digits;
using test::small_raw;
using test::write_file;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Output, FullDevicesAreAnError) {
  expect_refused(run_posenc(small_csv + Arguments{"--output", "/dev/full"}), "/dev/full");
  expect_refused(run_posenc({"list", "--output", "/dev/full"}), "/dev/full");
  expect_refused(run_posenc({"accuracy", "--rows", "4", "--d-model", "4", "--format", "json",
                             "--output", "/dev/full"}),
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
  expect_refused(run_posenc(small_csv + Arguments{"--output", "/nonexistent/table.csv"}),
                 "/nonexistent/table.csv");
  const ScratchFolder folder;
  expect_refused(run_posenc(small_csv + Arguments{"--output", folder.path()}), folder.path());
  write_file(folder / "file", "a file");
  expect_refused(run_posenc(small_csv + Arguments{"--output", folder / "file" / "table.csv"}),
                 "table.csv");
}

TEST(Output, TablesLargerThanTheFreeDiskAreRefusedBeforeTheWork) {
  const ScratchFolder folder;
  write_file(folder / "table.raw", "precious");
  const CommandResult result =
      run_posenc({"generate", "--rows", "1000000000000", "--d-model", "1048576", "--format", "raw",
                  "--output", folder / "table.raw"});
  expect_refused(result, "table.raw");
  EXPECT_EQ(read_file(folder / "table.raw"), "precious");
  EXPECT_THAT(folder.listing(), ElementsAre("table.raw"));
}

TEST(Output, ReplacesAnExistingFileOnlyWhenItIsWhole) {
  const ScratchFolder folder;
  write_file(folder / "table.csv", "old");
  EXPECT_EQ(run_posenc(small_csv + Arguments{"--digits", "5", "--output", folder / "table.csv"})
                .exit_code,
            0);
  EXPECT_EQ(read_file(folder / "table.csv"), small_csv_with_five_digits);
  EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
}

TEST(Interrupted, CtrlCLeavesTheFileThatWasThereAndNoOther) {
  const ScratchFolder folder;
  write_file(folder / "table.csv", "precious");
  const auto result = test::interrupt_posenc(
      {"generate", "--rows", "200000", "--d-model", "512", "--output", folder / "table.csv"},
      folder.path());
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
  EXPECT_EQ(read_file(folder / "table.csv"), "precious");
  EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
}

TEST(Interrupted, TheNextRunRemovesTheTemporaryFileOfAKilledRun) {
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
