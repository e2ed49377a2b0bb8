// A process that writes a file removes the temporary files that killed processes left for the same
// file, and no other files.
#include "posenc/support/atomic_file.h"

#include "posenc/support/input_file.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#ifdef _WIN32
#include "posenc/support/file_system.h"
#else
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace posenc {
namespace {

using test::ScratchFolder;
using test::write_file;
using testing::ElementsAre;

#ifdef _WIN32

int dead_process() { return 0x7ffffffc; }  // no number is so large
int living_process() { return file_system::this_process(); }

/// Keeps a file open, which protects it.
class HeldFile {
 public:
  explicit HeldFile(const std::filesystem::path& file)
      : descriptor_(file_system::open_to_write(file)) {}
  ~HeldFile() { file_system::close(descriptor_); }

 private:
  int descriptor_;
};

#else

/// The number of a process that has ended.
int dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

int living_process() { return ::getpid() == 1 ? 1 : ::getppid(); }

/// Keeps a file open and locked.
class HeldFile {
 public:
  explicit HeldFile(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_WRONLY | O_CLOEXEC)) {
    EXPECT_EQ(::flock(descriptor_, LOCK_EX), 0);
  }
  ~HeldFile() { ::close(descriptor_); }

 private:
  int descriptor_;
};

#endif

std::string temporary_of(const std::string& file, int process) {
  return "." + file + "." + std::to_string(process) + "-0.tmp";
}

void write_whole(const std::filesystem::path& file) {
  OutputFile output(file);
  output.write("whole");
  output.commit();
}

TEST(OutputFile, RemovesTemporaryFilesOfKilledProcesses) {
  const ScratchFolder folder;
  const int dead = dead_process();
  write_file(folder / temporary_of("table", dead), "half");
  write_whole(folder / "table");
  EXPECT_THAT(folder.listing(), ElementsAre("table"));
  EXPECT_EQ(read_file(folder / "table"), "whole");
}

TEST(OutputFile, RemovesTemporaryFilesInTheCurrentFolder) {
  const ScratchFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_file(folder / temporary_of("table", dead_process()), "half");
  write_whole("table");
  std::filesystem::current_path(before);
  EXPECT_THAT(folder.listing(), ElementsAre("table"));
}

TEST(OutputFile, KeepsTemporaryFilesOfLivingProcesses) {
  const ScratchFolder folder;
  const std::string mine = temporary_of("table", living_process());
  write_file(folder / mine, "half");
  write_whole(folder / "table");
  EXPECT_THAT(folder.listing(), ElementsAre(mine, "table"));
}

TEST(OutputFile, KeepsLockedTemporaryFiles) {
  // The lock protects a writer in another container, whose process number does not exist here.
  const ScratchFolder folder;
  const std::string name = temporary_of("table", dead_process());
  write_file(folder / name, "half");
  {
    const HeldFile held(folder / name);
    write_whole(folder / "table");
  }
  EXPECT_THAT(folder.listing(), ElementsAre(name, "table"));
  write_whole(folder / "table");
  EXPECT_THAT(folder.listing(), ElementsAre("table"));
}

TEST(OutputFile, KeepsUnrelatedFiles) {
  const ScratchFolder folder;
  const std::string dead = std::to_string(dead_process());
  const std::vector<std::string> others = {".other." + dead + "-0.tmp",  ".table." + dead + ".tmp",
                                           ".table." + dead + "-0",      ".table.notes-0.tmp",
                                           ".table." + dead + "-0x.tmp", ".table.tmp"};
  for (const std::string& each : others) write_file(folder / each, "precious");
  write_whole(folder / "table");
  for (const std::string& each : others)
    EXPECT_TRUE(std::filesystem::exists(folder / each)) << each;
}

TEST(ReadFile, ReportsWhyAFileCannotBeRead) {
  const ScratchFolder folder;
  const auto reason = [](const std::filesystem::path& file) {
    try {
      return "read: " + read_file(file);
    } catch (const std::system_error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(reason(folder / "nothing"), testing::EndsWith("nothing: No such file or directory"));
  EXPECT_THAT(reason(folder.path()), testing::EndsWith("Is a directory"));
  write_file(folder / "large", std::string(100'000, 'x'));
  EXPECT_EQ(read_file(folder / "large"), std::string(100'000, 'x'));
}

}  // namespace
}  // namespace posenc
