// Starting a process on POSIX systems. It writes to files and not to pipes: it can then write much
// and not block. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace posenc::detail {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file with this content, to be read from its beginning. It is removed when it is closed. Throws
/// std::system_error if there is no place for it.
File temporary_file(const std::string& content = "");

/// All of it, from its beginning.
std::string content_of(std::FILE* file);

/// Descriptors of a process's standard input, output and error.
using Streams = std::array<int, 3>;

/// Starts a program, found as a shell would find it. Returns its number. Throws std::system_error
/// naming the program.
int start_process(const std::string& program, std::vector<std::string> arguments,
                  const Streams& streams);

/// Its exit code, or 128 and the signal that ended it.
int wait_for(int process);

/// Linux: the system ends this process when the one that started it ends.
void end_with_parent() noexcept;

}  // namespace posenc::detail
