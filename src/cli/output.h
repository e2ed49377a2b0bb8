// Where a subcommand's result goes: standard output, or a file that appears whole or not at all.
#pragma once

#include "posenc/support/atomic_file.h"

#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

/// Thrown from Output when a signal asks the program to end; main raises it again once the
/// temporary file is removed.
struct Interrupted {
  int signal;
};

class Output {
 public:
  /// Standard output where `file` is empty or "-".
  explicit Output(const std::string& file);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// The last call. Without it a file is left as it was.
  void finish();

 private:
  void catch_signals();

  struct OldAction {
    int signal;
    struct sigaction action;
  };
  std::optional<OutputFile> file_;  ///< always there once constructed
  std::vector<OldAction> old_actions_;
};

/// Opens, writes, finishes.
void write_all(const std::string& file, std::string_view text);

/// The same of text for people: its colours stay where a terminal shows them.
void write_page(const std::string& file, std::string_view text);

/// Ctrl-C and its like wait while it lives: for what must be whole and is done in a moment.
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
