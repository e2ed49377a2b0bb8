#include "cli/output.h"

#include "posenc/cpu.h"
#include "posenc/support/limits.h"
#include "posenc/support/printable.h"
#include "posenc/support/streams.h"
#include "posenc/version.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace posenc::cli {
namespace {

void throw_if_interrupted() {
  if (was_interrupted()) throw Interrupted();
}

}  // namespace

Output::Output(const std::string& file) {
  if (is_standard_output(file)) {
    file_.emplace(standard_output, "standard output");
    return;
  }
  // Opening a pipe waits for its reader: a signal must end that.
  std::error_code ignored;
  if (!std::filesystem::is_fifo(file, ignored)) until_removed_.emplace();
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

Json new_document() {
  return {{"version", 1},
          {"library_version", library_version()},
          {"compiler", compiler()},
          {"machine", to_json(cpu())}};
}

void write_document(const Options& options, const Json& document, const std::string& page) {
  write_all(options.output, options.is_json() ? text_of(document) : escaped_lines(page));
}

void print_message(std::string_view message) {
  const std::string line = "posenc: " + shortened(escaped(message), max_message_bytes) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool is_standard_output(const std::string& file) { return file.empty() || file == "-"; }

}  // namespace posenc::cli
