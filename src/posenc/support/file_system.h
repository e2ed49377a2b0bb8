// Pipes between processes, by descriptors. A failure is -1 or false, and its reason is in errno.
// Internal: not installed.
#pragma once

#include <cstddef>

namespace posenc::file_system {

/// A pipe, its reading end first, which started processes do not inherit.
bool make_pipe(int (&ends)[2]) noexcept;

/// At most so many bytes. These return how many; 0 at the end of the file.
std::ptrdiff_t read(int descriptor, void* data, std::size_t bytes) noexcept;
std::ptrdiff_t write(int descriptor, const void* data, std::size_t bytes) noexcept;

bool close(int descriptor) noexcept;

}  // namespace posenc::file_system
