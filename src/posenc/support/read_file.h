// A whole file as text, with the reason if it cannot be read. Internal: not installed.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace posenc {

/// Throws std::system_error, whose code is the reason. Streams of the standard library give none.
inline std::string read_file(const std::filesystem::path& file) {
  struct Descriptor {
    int number;
    ~Descriptor() {
      if (number >= 0) ::close(number);
    }
  };
  const auto fail = [&file] {
    throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
  };
  const Descriptor descriptor{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (descriptor.number < 0) fail();
  std::string content;
  char buffer[1 << 14];
  while (true) {
    const ssize_t size = ::read(descriptor.number, buffer, sizeof buffer);
    if (size == 0) return content;
    if (size > 0) {
      content.append(buffer, static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      fail();
    }
  }
}

}  // namespace posenc
