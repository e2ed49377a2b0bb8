// Operations on files that the standard library lacks, by descriptors. A failure is -1 or false,
// and its reason is in errno. Internal: not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace posenc::file_system {

int open_to_read(const std::filesystem::path& file) noexcept;
/// Does not wait for the writer of a pipe.
int open_to_read_at_once(const std::filesystem::path& file) noexcept;
/// A file, a device or a pipe that exists.
int open_to_write(const std::filesystem::path& file) noexcept;
/// Fails with EEXIST if there is a file of that name.
int open_new(const std::filesystem::path& file) noexcept;

/// At most so many bytes. These return how many; 0 at the end of the file.
std::ptrdiff_t read(int descriptor, void* data, std::size_t bytes) noexcept;
std::ptrdiff_t read_at(int descriptor, std::int64_t offset, void* data, std::size_t bytes) noexcept;
std::ptrdiff_t write(int descriptor, const void* data, std::size_t bytes) noexcept;

/// Its bytes if it is a regular file. If it is not, the result is -1 and errno is 0.
std::int64_t regular_bytes(int descriptor) noexcept;

/// Waits until all that was written is stored.
bool sync(int descriptor) noexcept;
bool close(int descriptor) noexcept;

/// Gives the file of the descriptor the permissions of another one.
void copy_permissions(const std::filesystem::path& from, int descriptor) noexcept;
bool may_write(const std::filesystem::path& file) noexcept;
bool may_create_in(const std::filesystem::path& folder) noexcept;

/// Renames a file; replaces an existing one at once.
bool replace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept;

}  // namespace posenc::file_system
