#include "cli/output.h"

#include "posenc/cpu.h"
#include "posenc/support/kernels_digest.h"
#include "posenc/support/limits.h"
#include "posenc/support/printable.h"
#include "posenc/support/program.h"
#include "posenc/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace posenc::cli {

using namespace suite;
namespace {

/// Name of the temporary file that a signal handler removes. If the file has been renamed, nothing
/// has that name, and nothing is removed.
std::atomic<const char*> temporary_file = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

extern "C" void remove_temporary_and_end(int signal) {
  if (const char* const file = temporary_file) std::remove(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void remove_if_interrupted(const std::filesystem::path& temporary) {
  static auto& name = *new std::string;
  temporary_file = nullptr;
  name = temporary.string();
  temporary_file = name.c_str();
  constexpr int signals[] = {
      SIGINT, SIGTERM,
#ifdef SIGHUP
      SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2,
#endif
  };
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN);  // the write fails instead, and removes the file
#endif
  for (const int each : signals) {
    const bool is_ignored = std::signal(each, remove_temporary_and_end) == SIG_IGN;
    if (is_ignored) std::signal(each, SIG_IGN);  // still ignored, as under nohup
  }
}

/// Replaces the last line of the terminal. Errors are ignored: the terminal may be gone.
void show(const std::string& line) {
  const std::string text = "\r\033[K" + line;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

OutputFile open_output(const std::string& file) {
  if (is_standard_output(file)) return OutputFile(std::cout, "standard output");
  return OutputFile(file, remove_if_interrupted);
}

void check_output(const std::string& file) {
  std::error_code ignored;
  if (!is_standard_output(file) && !std::filesystem::is_fifo(file, ignored)) open_output(file);
}

bool is_standard_output(const std::string& file) { return file.empty() || file == "-"; }

void write_all(const std::string& file, std::string_view text) {
  OutputFile output = open_output(file);
  output.write(text);
  output.commit();
}

Json new_document() {
  return {{"version", 1},
          {"library_version", library_version()},
          {"compiler", compiler()},
          {"kernels", kernels_digest()},
          {"machine", suite::to_json(cpu())}};
}

void write_document(const Options& options, const Json& document, const std::string& page) {
  write_all(options.output, options.format == "json" ? text_of(document) : escaped(page, "\n"));
}

void print_message(std::string_view message, std::string_view program) {
  const std::string line =
      fmt::format("{}: {}\n", program, shortened(escaped(message), max_message_bytes));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Progress::Progress(bool wanted)
    : is_wanted_(wanted && is_terminal(standard_error)),
      next_(start_ + std::chrono::milliseconds(300)) {}

Progress::~Progress() {
  if (is_shown_) show("");
}

void Progress::operator()(double share, std::string_view doing) {
  constexpr double least_share = 0.05;  // the time left is estimated from this share on
  const auto now = Clock::now();
  if (!is_wanted_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  is_shown_ = true;
  const double done = std::clamp(share, 0.0, 1.0);
  std::string left;
  if (done >= least_share) {
    const double passed = std::chrono::duration<double>(now - start_).count();
    const auto seconds = static_cast<int>(std::ceil(passed * (1 - done) / done));
    left = seconds < 60 ? fmt::format("{} s left  ", seconds)
                        : fmt::format("{} min {:02} s left  ", seconds / 60, seconds % 60);
  }
  show(fmt::format("{:3.0f} %  {}{}", 100 * done, left, doing));
}

}  // namespace posenc::cli
