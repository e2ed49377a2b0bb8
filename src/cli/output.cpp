#include "cli/output.h"

#include "cli/escape.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace posenc::cli {
namespace {

constexpr int interrupting_signals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t caught_signal = 0;

void remember(int signal) { caught_signal = signal; }

void throw_if_interrupted() {
  if (caught_signal != 0) throw Interrupted();
}

/// True if opening waits, as it does for the reader of a pipe: a signal must end that.
bool may_wait(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::is_fifo(file, ignored);
}

}  // namespace

Uninterrupted::Uninterrupted() {
  for (const int signal : interrupting_signals) {
    struct sigaction action = {};
    action.sa_handler = remember;
    OldAction old = {signal, {}};
    ::sigaction(signal, nullptr, &old.action);
    if (old.action.sa_handler == SIG_IGN) continue;  // as under nohup
    ::sigaction(signal, &action, nullptr);
    old_actions_.push_back(old);
  }
}

Uninterrupted::~Uninterrupted() {
  for (const OldAction& old : old_actions_) ::sigaction(old.signal, &old.action, nullptr);
  const int signal = caught_signal;
  caught_signal = 0;
  if (signal != 0) std::raise(signal);
}

Output::Output(const std::string& file) {
  if (is_standard_output(file)) {
    file_.emplace(STDOUT_FILENO, "standard output");
    return;
  }
  if (!may_wait(file)) until_removed_.emplace();
  file_.emplace(file);
  // By default a signal ends a blocked write to a device at once.
  if (!file_->is_temporary()) until_removed_.reset();
}

void Output::write(const void* data, std::size_t bytes) {
  throw_if_interrupted();
  file_->write(data, bytes);
}

void Output::finish() {
  throw_if_interrupted();
  file_->commit();
}

void write_all(const std::string& file, std::string_view text) {
  Output output(file);
  output.write(text);
  output.finish();
}

void write_page(const std::string& file, std::string_view text) {
  write_all(file, escaped_lines(text));
}

bool is_standard_output(const std::string& file) { return file.empty() || file == "-"; }

}  // namespace posenc::cli
