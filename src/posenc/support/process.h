// Starting a process, which writes to files and not to pipes: it can then write much and not block.
// Internal: not installed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// It is removed when it is closed. Throws std::system_error if there is no place for one.
File temporary_file();

/// All of it, from its beginning.
std::string content_of(std::FILE* file);

/// Descriptors of a process's standard input, output and error.
struct Streams {
  int in;
  int out;
  int err;
};

/// Its number, or its handle on Windows.
using Process = std::intptr_t;

/// Starts a program, found as a shell would find it, with the environment ("NAME=value"), or if
/// that is empty with this process's own. Throws std::system_error naming the program.
Process start_process(const std::string& program, std::vector<std::string> arguments,
                      const Streams& streams, std::vector<std::string> environment = {});

/// A pipe to the standard input of a process. Its writing end closes with the object or with this
/// process, however that ends, and so tells the other process.
class ProcessInput {
 public:
  /// Throws std::system_error.
  ProcessInput();
  ~ProcessInput();
  ProcessInput(const ProcessInput&) = delete;
  ProcessInput& operator=(const ProcessInput&) = delete;

  /// For start_process().
  int reading_end() const noexcept { return ends_[0]; }
  /// Called once, after the process was started. What a process that has ended does not read is
  /// lost: its exit code tells.
  void send(std::string_view text);

 private:
  int ends_[2] = {-1, -1};
};

/// Ends this process when its standard input ends, which is a pipe of ProcessInput: the process
/// that started this one has ended, and nobody waits for its result.
void end_with_standard_input();

/// Its exit code, or 128 and the signal that ended it.
int wait_for(Process process);

}  // namespace posenc
