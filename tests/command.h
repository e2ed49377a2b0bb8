// Runs the built posenc command as a person's shell would, and keeps what it said.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace posenc::test {

struct CommandResult {
  int exit_code = 0;  ///< 128 + signal number where a signal ended it
  std::string out;
  std::string err;
};

struct CommandOptions {
  std::map<std::string, std::string> environment;  ///< added to this process's own, less its POSENC_* variables
  std::filesystem::path out_file;                  ///< where stdout goes instead of CommandResult::out
};

/// Starts from a profile that does not exist, so that what the user has picked on this machine decides no test.
CommandResult run_posenc(const std::vector<std::string>& arguments, const CommandOptions& options = {});

}  // namespace posenc::test
