// Runs the built posenc command as a person's shell would, and keeps what it said.
#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace posenc::test {

struct CommandResult {
  int exit_code = 0;  ///< 128 + signal number if a signal ended it
  std::string out;
  std::string err;
};

struct CommandOptions {
  std::map<std::string, std::string>
      environment;                 ///< added to this process's own, less its POSENC_* variables
  std::filesystem::path out_file;  ///< where stdout goes instead of CommandResult::out
  std::string program = {};        ///< another than the posenc command
};

/// Starts from a profile that does not exist, so that what the user has picked on this machine
/// decides no test.
CommandResult run_posenc(const std::vector<std::string>& arguments,
                         const CommandOptions& options = {});

/// The same with standard output and standard error on a terminal of its own: what both say, in
/// `out`.
CommandResult run_posenc_on_terminal(const std::vector<std::string>& arguments,
                                     const std::map<std::string, std::string>& environment = {});

/// Starts it, waits until a file appears in `folder` whose name ends in .tmp, or until it ends, and
/// interrupts it (Ctrl-C), or sends it another signal.
CommandResult interrupt_posenc(const std::vector<std::string>& arguments,
                               const std::filesystem::path& folder, int signal = SIGINT);

}  // namespace posenc::test
