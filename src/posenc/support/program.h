// The arguments and standard streams of a program, whose text is UTF-8 on every system. On POSIX
// systems, programs can also start others. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace posenc::detail {

/// The arguments of main(), without the program's name.
std::vector<std::string> program_arguments(int argc, char** argv);

/// Descriptors, as <unistd.h> names them.
inline constexpr int standard_output = 1, standard_error = 2;

bool is_terminal(int descriptor) noexcept;

/// Call this once, before the program reads or writes. The streams then carry plain bytes on every
/// system, and a write beyond the limit of file sizes fails as any other write does.
void prepare_standard_streams() noexcept;

// Processes write to files instead of pipes, so that they can write any amount without blocking.

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file with this content, positioned at its beginning. It is kept in memory where the system can
/// do so, and it disappears when it is closed. Throws std::system_error if there is no place for
/// it.
File temporary_file(const std::string& content = "");

/// The whole content of the file, read from its beginning.
std::string content_of(std::FILE* file);

/// The descriptors of a process's standard input, output and error.
using Streams = std::array<int, 3>;

/// Starts a program and returns its process number. The program is found as a shell would find it.
/// Throws std::system_error, naming the program. On Linux the program ends with the calling thread.
int start_process(const std::string& program, std::vector<std::string> arguments,
                  const Streams& streams);

/// Waits for a process. Returns its exit code, or 128 plus the signal that ended it.
int wait_for(int process);

/// Runs a program and returns the text that it writes to its standard output. Throws
/// std::runtime_error, with the first line of its standard error, unless it ends with exit code 0.
std::string output_of_program(const std::string& program, std::vector<std::string> arguments,
                              const std::string& input = "");

}  // namespace posenc::detail
