#include "posenc/support/process.h"

#include "posenc/support/file_system.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace posenc {

ProcessInput::ProcessInput() {
  if (!file_system::make_pipe(ends_))
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
}

ProcessInput::~ProcessInput() {
  for (const int each : ends_) {
    if (each >= 0) file_system::close(each);
  }
}

void ProcessInput::send(std::string_view text) {
  file_system::close(std::exchange(ends_[0], -1));
#ifdef SIGPIPE
  const auto before = std::signal(SIGPIPE, SIG_IGN);
#endif
  while (!text.empty()) {
    const std::ptrdiff_t written = file_system::write(ends_[1], text.data(), text.size());
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
#ifdef SIGPIPE
  std::signal(SIGPIPE, before);
#endif
}

void end_with_standard_input() {
  std::thread([] {
    char unused = 0;
    while (file_system::read(0, &unused, 1) > 0) {
    }
    std::_Exit(EXIT_FAILURE);
  }).detach();
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string content;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, file)) {
    content.append(buffer, size);
  }
  return content;
}

}  // namespace posenc
