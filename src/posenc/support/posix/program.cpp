#include "posenc/support/program.h"

#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

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

#ifndef __EMSCRIPTEN__
/// Linux: makes the system end this process when its parent ends, and ends it at once if the parent
/// has already ended. It is called before the new program begins. Otherwise the program would live
/// on if the parent ended while the program is loaded.
void end_with(pid_t parent) noexcept {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
#endif
}
#endif

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
  // A program that starts closes this pipe. Otherwise this process reads the error from it.
  int failure[2];
  if (::pipe(failure) == -1) fail(errno, "cannot run " + program);
  for (const int each : failure) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    end_with(parent);
    bool is_ready = true;
    for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      is_ready = is_ready && ::dup2(streams[each], each) != -1;
    if (is_ready) ::execvp(program.c_str(), pointers.data());
    const int reason = errno;
    std::ignore = ::write(failure[1], &reason, sizeof reason);
    ::_exit(127);
  }
  int reason = errno;
  ::close(failure[1]);
  const bool has_failed =
      process == -1 || ::read(failure[0], &reason, sizeof reason) == sizeof reason;
  ::close(failure[0]);
  if (process != -1 && has_failed) wait_for(process);
  if (has_failed) fail(reason, "cannot run " + program);
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
