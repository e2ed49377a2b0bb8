// Starting a process on POSIX systems. It writes to files and not to pipes: it can then write much
// and not block. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace posenc::detail {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// It is removed when it is closed. Throws std::system_error if there is no place for one.
File temporary_file();

/// All of it, from its beginning.
std::string content_of(std::FILE* file);

/// The reading and the writing end of a pipe, unbuffered, which started processes do not inherit.
/// Throws std::system_error.
std::pair<File, File> make_pipe();

/// Descriptors of a process's standard input, output and error.
struct Streams {
  int in;
  int out;
  int err;
};

/// Its number.
using Process = int;

/// Starts a program, found as a shell would find it, with the environment ("NAME=value"), or if
/// that is empty with this process's own. Throws std::system_error naming the program.
Process start_process(const std::string& program, std::vector<std::string> arguments,
                      const Streams& streams, std::vector<std::string> environment = {});

/// Its exit code, or 128 and the signal that ended it.
int wait_for(Process process);

/// Returns when standard input ends. Reads by its descriptor: a thread that waits in a stream would
/// hold its lock, which exit() waits for since glibc 2.41.
void wait_for_end_of_input() noexcept;

}  // namespace posenc::detail
