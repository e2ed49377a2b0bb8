// The output of a subcommand: standard output, or a file that appears whole or not at all.
#pragma once

#include "posenc/support/atomic_file.h"

#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::cli {

/// Delays Ctrl-C and its like during its lifetime, for what must not be left half done.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();  ///< raises the signal that came meanwhile, which by default ends the program
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  struct OldAction {
    int signal;
    struct sigaction action;
  };
  std::vector<OldAction> old_actions_;
};

/// Thrown by Output after a signal, so that its temporary file is removed before the signal acts.
struct Interrupted {};

class Output {
 public:
  /// Standard output if `file` is empty or "-".
  explicit Output(const std::string& file);

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// The last call. Without it, an existing file keeps its content.
  void finish();

 private:
  std::optional<Uninterrupted> until_removed_;  ///< first, and so destroyed after the file
  std::optional<OutputFile> file_;              ///< always set after construction
};

/// Opens, writes, finishes.
void write_all(const std::string& file, std::string_view text);

/// The same for lines of text that may quote a file: a terminal gets no control characters.
void write_page(const std::string& file, std::string_view text);

bool is_standard_output(const std::string& file);

}  // namespace posenc::cli
