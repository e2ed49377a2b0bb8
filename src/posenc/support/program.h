// What a program is started with, arguments and standard streams, whose text is UTF-8 on every
// system; and on POSIX systems, how it starts others. Internal: not installed.
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

/// Called once, before the program reads or writes: its streams are bytes on every system, and a
/// write beyond the limit of file sizes fails as any other write does.
void prepare_standard_streams() noexcept;

// Processes write to files and not to pipes: they can then write much and not block.

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file with this content, to be read from its beginning, in memory where the system can. It is
/// gone when it is closed. Throws std::system_error if there is no place for it.
File temporary_file(const std::string& content = "");

/// All of it, from its beginning.
std::string content_of(std::FILE* file);

/// Descriptors of a process's standard input, output and error.
using Streams = std::array<int, 3>;

/// Starts a program, found as a shell would find it. Returns its number. Throws std::system_error
/// naming the program. On Linux the program ends with the thread that calls this.
int start_process(const std::string& program, std::vector<std::string> arguments,
                  const Streams& streams);

/// Its exit code, or 128 and the signal that ended it.
int wait_for(int process);

/// What the program writes to its standard output. Throws std::runtime_error, with the first line
/// of its standard error, unless it ends with exit code 0.
std::string output_of_program(const std::string& program, std::vector<std::string> arguments,
                              const std::string& input = "");

}  // namespace posenc::detail
