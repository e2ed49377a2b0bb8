// Runs the built posenc command as a shell would, and keeps what it wrote.
#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace posenc::test {

using Arguments = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

Arguments operator+(Arguments left, const Arguments& right);

struct CommandResult {
  int exit_code = 0;  ///< 128 + signal number if a signal ended it
  std::string out;
  std::string err;
};

struct CommandOptions {
  Environment environment = {};         ///< added to this process's, less its POSENC_* variables
  std::filesystem::path out_file = {};  ///< where stdout goes instead of CommandResult::out
  std::string program = {};             ///< another program than the posenc command
};

/// The command finds no profile unless the environment names one, so that what was measured on this
/// machine decides no test.
CommandResult run_posenc(const Arguments& arguments, const CommandOptions& options = {});

/// The same with standard output and standard error on a terminal of its own: `out` has both.
CommandResult run_posenc_on_terminal(const Arguments& arguments,
                                     const Environment& environment = {});

/// Starts the command, waits until a temporary file appears in `folder` or the command ends, and
/// sends it the signal (by default that of Ctrl-C).
CommandResult interrupt_posenc(const Arguments& arguments, const std::filesystem::path& folder,
                               int signal = SIGINT);

/// Expects exit code 2, no output, and one line on standard error that contains `named`.
void expect_refused(const CommandResult& result, const std::string& named);

/// Writes the accuracy report of all backends over a small table, as JSON.
void write_accuracy_report(const std::filesystem::path& file, const Arguments& options = {});

}  // namespace posenc::test
