#include "posenc/support/input_file.h"

#include "posenc/error.h"
#include "posenc/support/file_system.h"
#include "posenc/support/format.h"
#include "posenc/support/limits.h"

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace posenc {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
}

/// Closes a descriptor at the end of its scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) file_system::close(number);
  }
};

}  // namespace

InputFile::InputFile(const std::filesystem::path& file)
    : file_(file), descriptor_(file_system::open_to_read_at_once(file)) {
  if (descriptor_ < 0) fail(file);
  bytes_ = file_system::regular_bytes(descriptor_);
  if (bytes_ >= 0) return;
  const int reason = errno;
  file_system::close(descriptor_);
  errno = reason;
  if (reason != 0) fail(file);
  throw InvalidArgument(
      format_text("'{}' is a device or a pipe; allowed: a regular file", file.string()));
}

InputFile::~InputFile() { file_system::close(descriptor_); }

void InputFile::read(std::int64_t offset, void* to, std::int64_t count) const {
  auto* next = static_cast<char*>(to);
  while (count > 0) {
    const std::ptrdiff_t done =
        file_system::read_at(descriptor_, offset, next, static_cast<std::size_t>(count));
    if (done < 0) fail(file_);
    if (done == 0) throw InvalidArgument("the file became shorter while it was read");
    next += done;
    offset += done;
    count -= done;
  }
}

std::string InputFile::text(std::int64_t offset, std::int64_t count) const {
  std::string result(static_cast<std::size_t>(count), '\0');
  read(offset, result.data(), count);
  return result;
}

std::string read_document(const std::filesystem::path& file) {
  const Descriptor descriptor{file_system::open_to_read(file)};
  if (descriptor.number < 0) fail(file);
  std::string content;
  char buffer[1 << 14];
  while (true) {
    const std::ptrdiff_t size = file_system::read(descriptor.number, buffer, sizeof buffer);
    if (size == 0) return content;
    if (size < 0) fail(file);
    content.append(buffer, static_cast<std::size_t>(size));
    errno = EFBIG;
    if (content.size() > max_document_bytes) fail(file);
  }
}

}  // namespace posenc
