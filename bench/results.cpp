#include "results.h"

#include "posenc/spec.h"
#include "posenc/support/atomic_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace posenc::bench {
namespace {

std::string from_environment(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::unique_ptr<benchmark::BenchmarkReporter> reporter_of(const std::string& format) {
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
  return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
}

}  // namespace

std::optional<std::string> flag_value(std::string_view flag,
                                      const std::vector<std::string>& arguments) {
  const std::string begin = fmt::format("--{}=", flag);
  std::string value = from_environment(std::string(flag));
  for (const std::string& each : arguments) {
    if (each.starts_with(begin)) value = each.substr(begin.size());
  }
  return value.empty() ? std::nullopt : std::optional(value);
}

void check_format(std::string_view flag, const std::vector<std::string>& arguments) {
  const std::string format = flag_value(flag, arguments).value_or("json");
  if (format == "json" || format == "console") return;
  throw InvalidArgument(fmt::format("--{} is '{}'; allowed: json, console", flag, format));
}

ResultFile::ResultFile(std::string file, const std::string& format)
    : file_(std::move(file)),
      reporter_(reporter_of(format)),
      joining_(std::make_unique<JoiningReporter>(*reporter_, longest_name())) {
  reporter_->SetOutputStream(&text_);
  reporter_->SetErrorStream(&text_);
  try {
    check_writable(file_, Folders::must_exist);
  } catch (const std::system_error& error) {
    refuse(error.code().message());
  }
}

void ResultFile::finish() {
  if (!joining_->has_begun()) return;  // names were listed, and nothing was run
  joining_->finish();
  try {
    OutputFile output{std::filesystem::path(file_)};
    output.write(text_.str());
    output.commit();
  } catch (const std::system_error& error) {
    refuse(error.code().message());
  }
}

void ResultFile::refuse(const std::string& reason) const {
  throw InvalidArgument(fmt::format(
      "--benchmark_out is '{}'; allowed: a file that can be written ({})", file_, reason));
}

}  // namespace posenc::bench
