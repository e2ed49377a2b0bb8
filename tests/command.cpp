#include "command.h"

#include "posenc/support/program.h"

#if __has_include(<pty.h>)
#include <pty.h>
#else
#include <util.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>

namespace posenc::test {
namespace {

/// Arguments of env.
Arguments child_environment(const CommandOptions& options) {
  Arguments changes;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string entry = *each, name = entry.substr(0, entry.find('='));
    if (name.starts_with("POSENC_")) changes = changes + Arguments{"-u", name};
  }
  for (const auto& [name, value] : options.environment) changes.push_back(name + "=" + value);
  return changes;
}

int start(const Arguments& arguments, const CommandOptions& options, const Streams& streams) {
  const std::string program = options.program.empty() ? POSENC_COMMAND : options.program;
  return start_process("env", child_environment(options) + Arguments{program} + arguments, streams);
}

File opened(const std::filesystem::path& file, const char* mode) {
  File stream(std::fopen(file.c_str(), mode), &std::fclose);
  if (!stream) throw std::system_error(errno, std::generic_category(), file);
  return stream;
}

bool has_temporary(const std::filesystem::path& folder) {
  return std::ranges::any_of(std::filesystem::directory_iterator(folder),
                             [](const auto& each) { return each.path().extension() == ".tmp"; });
}

}  // namespace

Arguments words(const std::string& line) {
  std::istringstream all(line);
  return {std::istream_iterator<std::string>(all), {}};
}

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

CommandResult run_posenc(const Arguments& arguments, const CommandOptions& options) {
  const File in = opened("/dev/null", "r"), out = temporary_file(), err = temporary_file();
  const File out_file =
      options.out_file.empty() ? File(nullptr, &std::fclose) : opened(options.out_file, "w");
  const int code = wait_for(
      start(arguments, options,
            {fileno(in.get()), fileno((out_file ? out_file : out).get()), fileno(err.get())}));
  return {code, content_of(out.get()), content_of(err.get())};
}

CommandResult run_line(const std::string& line, const CommandOptions& options) {
  return run_posenc(words(line), options);
}

nlohmann::json json_of(const std::string& line) {
  const CommandResult result = run_line(line + " --format json");
  EXPECT_THAT(result.out, StartsWith("{")) << line << ": " << result.err;
  return nlohmann::json::parse(result.out, nullptr, false);
}

CommandResult run_posenc_on_terminal(const Arguments& arguments) {
  int keyboard = -1, screen = -1;
  if (openpty(&keyboard, &screen, nullptr, nullptr, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "openpty");
  }
  const int child = start(arguments, {}, {screen, screen, screen});
  close(screen);
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(keyboard, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(size));
  close(keyboard);
  return {wait_for(child), text, ""};
}

CommandResult interrupt_posenc(const Arguments& arguments, const std::filesystem::path& folder,
                               int signal) {
  const File in = opened("/dev/null", "r"), out = temporary_file(), err = temporary_file();
  // A shell starts what runs in the background with interrupts ignored.
  const auto before = std::signal(signal, SIG_DFL);
  const int child = start(arguments, {}, {fileno(in.get()), fileno(out.get()), fileno(err.get())});
  std::signal(signal, before);
  siginfo_t ended = {};
  while (!has_temporary(folder)) {
    if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == child)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, signal);
  return {wait_for(child), content_of(out.get()), content_of(err.get())};
}

const Arguments small_csv = words("generate --rows 3 --d-model 4 --format csv");
const std::string small_csv_content =
    "0,1,0,1\n"
    "0.84147096,0.5403023,0.009999833,0.99995\n"
    "0.9092974,-0.41614684,0.019998666,0.9998\n";

void expect_bad_input(const CommandResult& result, const std::string& program,
                      const std::string& named) {
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  EXPECT_THAT(result.err, AllOf(StartsWith(program), HasSubstr(named)));
}

void expect_refused(const CommandResult& result, const std::string& named) {
  EXPECT_EQ(result.out, "");
  expect_bad_input(result, "posenc: ", named);
}

}  // namespace posenc::test
