// Runs the built posenc command as a shell would, and captures its output.
#pragma once

#include "cli/little_endian.h"
#include "support.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace posenc::test {

using Arguments = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

/// The arguments of a line, which blanks separate.
Arguments words(const std::string& line);
Arguments operator+(Arguments left, const Arguments& right);
inline Arguments operator+(Arguments left, const std::string& line) { return left + words(line); }

struct CommandResult {
  int exit_code = 0;  ///< 128 + signal number if a signal ended it
  std::string out;
  std::string err;
};

struct CommandOptions {
  /// Added to this process's environment, from which POSENC_* variables are removed.
  Environment environment = {};
  /// If not empty, stdout goes to this file instead of CommandResult::out.
  std::filesystem::path out_file = {};
  /// If not empty, the program to run instead of the posenc command.
  std::string program = {};
};

/// Runs the command. It finds no profile unless `options` names one, so that no test depends on
/// what was measured on this machine.
CommandResult run_posenc(const Arguments& arguments, const CommandOptions& options = {});
/// The same with the arguments of a line, which blanks separate.
CommandResult run_line(const std::string& line, const CommandOptions& options = {});

/// The document that the command of the line writes with --format json.
nlohmann::json json_of(const std::string& line);

/// Runs the command with its standard streams on a pseudo-terminal. `out` holds both outputs.
CommandResult run_posenc_on_terminal(const Arguments& arguments);

/// Starts the command, waits until a temporary file appears in `folder` or the command ends, then
/// sends the signal (by default that of Ctrl-C).
CommandResult interrupt_posenc(const Arguments& arguments, const std::filesystem::path& folder,
                               int signal = SIGINT);

/// Expects exit code 2, and one line on standard error that begins with `program` and contains
/// `named`.
void expect_bad_input(const CommandResult& result, const std::string& program,
                      const std::string& named);

/// expect_bad_input() of the command posenc, and no output.
void expect_refused(const CommandResult& result, const std::string& named);

/// `generate` of a table of shape (3, 4), to standard output, and its csv.
extern const Arguments small_csv;
extern const std::string small_csv_content;

/// The bytes of elements, in the order of files.
template <class T>
std::string bytes_of(std::span<const T> elements) {
  std::vector<T> stored(elements.begin(), elements.end());
  to_little_endian(std::span(stored));
  return {reinterpret_cast<const char*>(stored.data()), elements.size_bytes()};
}
template <class T>
std::string bytes_of(const BasicMatrix<T>& table) {
  return bytes_of(
      std::span(table.data(), static_cast<std::size_t>(table.rows() * table.columns())));
}

}  // namespace posenc::test
