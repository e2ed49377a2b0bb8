// The output of a subcommand: standard output, or a file that appears whole or not at all; its
// messages, and its progress.
#pragma once

#include "cli/options.h"

#include "posenc/suite/files.h"
#include "posenc/suite/measurement_json.h"

#include <chrono>
#include <string>
#include <string_view>

namespace posenc::cli {

/// Standard output if `file` is empty or "-". If a signal such as that of Ctrl-C ends the program,
/// the temporary file of the output is removed.
OutputFile open_output(const std::string& file);

/// Before long work: throws what open_output() would throw. Does not wait for the reader of a pipe.
void check_output(const std::string& file);

bool is_standard_output(const std::string& file);

/// Opens, writes, commits.
void write_all(const std::string& file, std::string_view text);

/// A document with "version", "library_version", "compiler" and "machine".
suite::Json new_document();

/// Writes the document as JSON, or the page for people that was made from it. A page may quote a
/// file: a terminal gets no control characters.
void write_document(const Options& options, const suite::Json& document, const std::string& page);

/// Writes the name of the program, the message, escaped and shortened to one line, and its end to
/// standard error. Where that cannot be written, the exit code alone tells.
void print_message(std::string_view message, std::string_view program = "posenc");

/// Progress of long work, with the time left, on standard error if that is a terminal.
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
  Clock::time_point next_;  ///< of the next drawing: late enough that short work shows nothing
};

}  // namespace posenc::cli
