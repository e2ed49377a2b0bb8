#include "posenc/support/program.h"

#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace posenc::detail {
namespace {

[[noreturn]] void fail(int reason, const std::string& what) {
  throw std::system_error(reason, std::generic_category(), what);
}

/// Opens a file in memory where the system can, because a sandbox may have no folder for temporary
/// files.
std::FILE* open_temporary() {
#ifdef MFD_CLOEXEC
  if (const int descriptor = ::memfd_create("posenc", MFD_CLOEXEC); descriptor != -1)
    return ::fdopen(descriptor, "w+");
#endif
  return std::tmpfile();
}

}  // namespace

std::vector<std::string> program_arguments(int argc, char** argv) {
  return argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

void prepare_standard_streams() noexcept {
  std::signal(SIGXFSZ, SIG_IGN);
  // If SIGCHLD is inherited as ignored, no process can be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  // If a standard stream is closed, the next file that is opened would take its place and receive
  // text that is meant for the stream. Each closed stream is therefore replaced by one on which
  // every read or write fails.
  for (const int descriptor : {0, standard_output, standard_error}) {
    if (::fcntl(descriptor, F_GETFD) == -1)
      ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);  // takes the lowest free number
  }
}

File temporary_file(const std::string& content) {
  File file(open_temporary(), &std::fclose);
  const bool is_written =
      file && std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() &&
      std::fflush(file.get()) == 0 && ::lseek(fileno(file.get()), 0, SEEK_SET) == 0;
  if (!is_written) fail(errno, "cannot make a temporary file");
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

#ifndef __EMSCRIPTEN__  // Emscripten has no processes
int start_process(const std::string& program, std::vector<std::string> arguments,
                  const Streams& streams) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> pointers;
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_adddup2(&actions, streams[each], each);
  pid_t process = 0;
  const int reason =
      ::posix_spawnp(&process, program.c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (reason != 0) fail(reason, "cannot run " + program);
  return process;
}

int wait_for(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) == -1) {
    if (errno != EINTR) fail(errno, "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string output_of_program(const std::string& program, std::vector<std::string> arguments,
                              const std::string& input) {
  const File in = temporary_file(input), out = temporary_file(), err = temporary_file();
  const int code = wait_for(start_process(
      program, std::move(arguments), {fileno(in.get()), fileno(out.get()), fileno(err.get())}));
  if (code == 0) return content_of(out.get());
  const std::string message = content_of(err.get());
  throw std::runtime_error(message.empty()
                               ? program + " ended with exit code " + std::to_string(code)
                               : message.substr(0, message.find('\n')));
}
#endif

}  // namespace posenc::detail
