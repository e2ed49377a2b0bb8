#include "posenc/support/process.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

namespace posenc {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), what);
}

std::wstring wide(const std::string& utf8) { return std::filesystem::path(utf8).wstring(); }

/// The argument as the C library of the started program reads it: backslashes are plain unless a
/// quote follows them.
std::wstring quoted(const std::wstring& argument) {
  std::wstring text = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t each : argument) {
    if (each == L'"') text.append(backslashes + 1, L'\\');
    backslashes = each == L'\\' ? backslashes + 1 : 0;
    text += each;
  }
  text.append(backslashes, L'\\');
  return text + L'"';
}

std::wstring command_line(const std::string& program, const std::vector<std::string>& arguments) {
  std::wstring text = quoted(wide(program));
  for (const std::string& each : arguments) text += L' ' + quoted(wide(each));
  return text;
}

/// Each entry ends with a zero, and the block with another one.
std::wstring environment_block(const std::vector<std::string>& entries) {
  std::wstring block;
  for (const std::string& each : entries) block += wide(each) + L'\0';
  return block + L'\0';
}

/// A handle of a descriptor that the started process inherits.
class Inherited {
 public:
  explicit Inherited(int descriptor) {
    // Minus one if the descriptor is not open, minus two if it is a stream without a file.
    const std::intptr_t handle = _get_osfhandle(descriptor);
    if (handle < 0)
      throw std::system_error(EBADF, std::generic_category(), "cannot inherit a stream");
    if (DuplicateHandle(GetCurrentProcess(), reinterpret_cast<HANDLE>(handle), GetCurrentProcess(),
                        &handle_, 0, TRUE, DUPLICATE_SAME_ACCESS) == 0) {
      fail("cannot inherit a stream");
    }
  }
  ~Inherited() { CloseHandle(handle_); }
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;

  HANDLE get() const noexcept { return handle_; }

 private:
  HANDLE handle_ = nullptr;
};

}  // namespace

// std::tmpfile() uses the root folder, where users may not write.
File temporary_file() {
  wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
  if (GetTempPathW(MAX_PATH, folder) == 0 || GetTempFileNameW(folder, L"pos", 0, name) == 0)
    fail("cannot make a temporary file");
  const int descriptor =
      _wopen(name, _O_RDWR | _O_BINARY | _O_NOINHERIT | _O_TEMPORARY, _S_IREAD | _S_IWRITE);
  File file(descriptor < 0 ? nullptr : _fdopen(descriptor, "w+b"), &std::fclose);
  if (!file) {
    if (descriptor >= 0) _close(descriptor);
    throw std::system_error(errno, std::generic_category(), "cannot make a temporary file");
  }
  return file;
}

Process start_process(const std::string& program, std::vector<std::string> arguments,
                      const Streams& streams, std::vector<std::string> environment) {
  const Inherited in(streams.in), out(streams.out), err(streams.err);
  STARTUPINFOW start = {};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = in.get();
  start.hStdOutput = out.get();
  start.hStdError = err.get();
  std::wstring line = command_line(program, arguments);
  std::wstring variables = environment_block(environment);
  PROCESS_INFORMATION started = {};
  if (CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_UNICODE_ENVIRONMENT,
                     environment.empty() ? nullptr : variables.data(), nullptr, &start,
                     &started) == 0) {
    fail("cannot run " + program);
  }
  CloseHandle(started.hThread);
  return reinterpret_cast<Process>(started.hProcess);
}

int wait_for(Process process) {
  const auto handle = reinterpret_cast<HANDLE>(process);
  DWORD code = 0;
  const bool has_ended = WaitForSingleObject(handle, INFINITE) == WAIT_OBJECT_0 &&
                         GetExitCodeProcess(handle, &code) != 0;
  if (!has_ended) fail("cannot wait for a process");
  CloseHandle(handle);
  return static_cast<int>(code);
}

}  // namespace posenc
