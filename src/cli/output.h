// The output of a subcommand: standard output, or a file that appears whole or not at all.
#pragma once

#include "posenc/support/atomic_file.h"

#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

/// Thrown by Output after a signal that ends the program: the temporary file is removed, and then
/// the signal is raised again.
struct Interrupted {
  int signal;
};

class Output {
 public:
  /// Standard output if `file` is empty or "-".
  explicit Output(const std::string& file);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// The last call. Without it, an existing file keeps its content.
  void finish();

 private:
  void catch_signals();

  struct OldAction {
    int signal;
    struct sigaction action;
  };
  std::optional<OutputFile> file_;  ///< always set after construction
  std::vector<OldAction> old_actions_;
};

/// Opens, writes, finishes.
void write_all(const std::string& file, std::string_view text);

/// The same for lines of text that may quote a file: a terminal gets no control characters.
void write_page(const std::string& file, std::string_view text);

/// Delays Ctrl-C and its like during its lifetime, for short work that must not be interrupted.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  sigset_t before_;
};

bool is_standard_output(const std::string& file);

}  // namespace posenc::cli
