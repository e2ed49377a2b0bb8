#include "cli/pick_process.h"

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/pick_run.h"

#include "posenc/tuning/timing.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT: POSIX has it in no header

namespace posenc::cli {
namespace {

std::string& first_argument() {
  static std::string name = "posenc";
  return name;
}

/// Files and not pipes: a process that says much, or ends early, can then never block or kill the
/// other.
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file)
    throw std::system_error(errno, std::generic_category(), "cannot make a temporary file");
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

/// This program, for posix_spawnp.
std::string program() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && std::filesystem::exists(here, error)) return here.string();
  // It was replaced since it was started, or there is no /proc.
  return std::filesystem::exists("/proc/self/exe", error) ? "/proc/self/exe" : first_argument();
}

Json to_json(const TimingRequest& request) {
  Json document = {{"dtype", to_string(request.type)},
                   {"threads", request.threads},
                   {"seconds_per_sample", request.seconds_per_sample},
                   {"seed", request.seed},
                   {"tables", Json::array()}};
  for (const TimingRequest::Table& table : request.tables) {
    Json candidates = Json::array();
    for (const auto& each : table.candidates) {
      candidates.push_back({{"backend", each.backend}, {"samples", each.samples}});
    }
    document["tables"].push_back({{"spec", cli::to_json(table.spec)},
                                  {"rows", cli::to_json(table.rows)},
                                  {"candidates", candidates},
                                  {"repeated", table.repeated}});
  }
  return document;
}

TimingRequest request_of(const Json& document) {
  TimingRequest request;
  request.type = parse_data_type(document.at("dtype").get<std::string>());
  request.threads = document.at("threads").get<int>();
  request.seconds_per_sample = document.at("seconds_per_sample").get<double>();
  request.seed = document.at("seed").get<std::uint64_t>();
  for (const Json& asked : document.at("tables")) {
    TimingRequest::Table& table = request.tables.emplace_back();
    table.spec = spec_of(asked.at("spec"));
    table.rows = rows_of(asked.at("rows"));
    table.repeated = asked.at("repeated").get<std::size_t>();
    for (const Json& each : asked.at("candidates")) {
      table.candidates.push_back(
          {each.at("backend").get<std::string>(), each.at("samples").get<int>()});
    }
  }
  return request;
}

Json to_json(const TimingResult& result) {
  Json document = {{"timed_seconds", result.timed_seconds},
                   {"lost_seconds", result.lost_seconds},
                   {"tables", Json::array()}};
  for (const TimingResult::Table& each : result.tables) {
    document["tables"].push_back(
        {{"seconds", each.seconds}, {"repeated_seconds", each.repeated_seconds}});
  }
  return document;
}

TimingResult result_of(const Json& document) {
  TimingResult result;
  result.timed_seconds = document.at("timed_seconds").get<double>();
  result.lost_seconds = document.at("lost_seconds").get<double>();
  for (const Json& each : document.at("tables")) {
    result.tables.push_back(
        {each.at("seconds").get<std::vector<double>>(), each.at("repeated_seconds").get<double>()});
  }
  return result;
}

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error(fmt::format("a process that times cannot be run: {}", why));
}

/// Its exit code, or 128 and the signal that ended it.
int run_to_end(std::FILE* in, std::FILE* out, std::FILE* err) {
  const std::string file = program();
  std::string words[] = {file, "pick", timing_option};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, file.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) fail(fmt::format("{}: {}", file, std::generic_category().message(failure)));
  int status = 0;
  while (waitpid(child, &status, 0) == -1) {
    if (errno != EINTR) fail(std::generic_category().message(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void remember_program(const char* name) { first_argument() = name; }

TimingResult time_in_new_process(const TimingRequest& request) {
  const File in = temporary_file(), out = temporary_file(), err = temporary_file();
  const std::string asked = text_of(to_json(request));
  std::fwrite(asked.data(), 1, asked.size(), in.get());
  if (std::fflush(in.get()) != 0) fail(std::generic_category().message(errno));
  std::rewind(in.get());
  const int code = run_to_end(in.get(), out.get(), err.get());
  if (code != good) {
    std::string said = content_of(err.get());
    if (const std::size_t end = said.find('\n'); end != std::string::npos) said.resize(end);
    fail(said.empty() ? fmt::format("it ended with exit code {}", code) : said);
  }
  try {
    return result_of(Json::parse(content_of(out.get())));
  } catch (const Json::exception&) {
    fail("it wrote no result");
  }
}

int time_on_request() {
  const std::string asked(std::istreambuf_iterator<char>(std::cin), {});
  TimingRequest request;
  try {
    request = request_of(Json::parse(asked));
  } catch (const Json::exception&) {
    throw InvalidArgument(fmt::format(
        "standard input is no request; allowed with {}: one of posenc pick", timing_option));
  }
  write_all("", text_of(to_json(time_candidates(request))));
  return good;
}

}  // namespace posenc::cli
