// The output of a subcommand (standard output, or a file that appears whole or not at all), its
// messages, and its progress.
#pragma once

#include "cli/options.h"

#include "posenc/suite/files.h"
#include "posenc/suite/measurement_json.h"

#include <chrono>
#include <string>
#include <string_view>

namespace posenc::cli {

/// Opens the file, or standard output if `file` is empty or "-". If a signal such as SIGINT ends
/// the program, the temporary file of the output is removed.
OutputFile open_output(const std::string& file);

/// Throws the errors that open_output() would throw; call it before long work. It does not wait for
/// the reader of a pipe.
void check_output(const std::string& file);

bool is_standard_output(const std::string& file);

/// Opens, writes, commits.
void write_all(const std::string& file, std::string_view text);

/// A document with "version", "library_version", "compiler" and "machine".
suite::Json new_document();

/// Writes the document as JSON, or the page for people that was made from it. Control characters in
/// the page are escaped, because a page may quote a file.
void write_document(const Options& options, const suite::Json& document, const std::string& page);

/// Writes "PROGRAM: MESSAGE" to standard error. The message is escaped and shortened to one line.
/// If standard error cannot be written, only the exit code reports the failure.
void print_message(std::string_view message, std::string_view program = "posenc");

/// Shows the progress of long work, and the time left, if standard error is a terminal.
class Progress {
 public:
  explicit Progress(bool wanted = true);
  ~Progress();  ///< clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void operator()(double share, std::string_view doing);

 private:
  using Clock = std::chrono::steady_clock;

  bool is_wanted_;
  bool is_shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;  ///< time of the next drawing; short work ends before the first one
};

}  // namespace posenc::cli
