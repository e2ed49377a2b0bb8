#include "posenc/support/process.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT: POSIX declares it in no header

namespace posenc::detail {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& each : strings) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

File end_of_pipe(int descriptor, const char* mode) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  File file(::fdopen(descriptor, mode), &std::fclose);
  if (!file) throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  std::setbuf(file.get(), nullptr);
  return file;
}

}  // namespace

std::pair<File, File> make_pipe() {
  int ends[2];
  if (::pipe(ends) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  return {end_of_pipe(ends[0], "r"), end_of_pipe(ends[1], "w")};
}

File temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file) {
    throw std::system_error(errno, std::generic_category(), "cannot make a temporary file");
  }
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string content;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, file))
    content.append(buffer, size);
  return content;
}

Process start_process(const std::string& program, std::vector<std::string> arguments,
                      const Streams& streams, std::vector<std::string> environment) {
  arguments.insert(arguments.begin(), program);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, streams.in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, streams.out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, streams.err, STDERR_FILENO);
  pid_t process = 0;
  const int failure =
      posix_spawnp(&process, program.c_str(), &actions, nullptr, pointers_to(arguments).data(),
                   environment.empty() ? environ : pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw std::system_error(failure, std::generic_category(), "cannot run " + program);
  }
  return process;
}

int wait_for(Process process) {
  int status = 0;
  while (waitpid(process, &status, 0) == -1) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void wait_for_end_of_input() noexcept {
  char unused[64];
  for (;;) {
    const ssize_t bytes = ::read(STDIN_FILENO, unused, sizeof unused);
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) return;
  }
}

}  // namespace posenc::detail
