#include "cli/measuring.h"

#include "cli/commands.h"
#include "cli/output.h"

#include "posenc/suite/measuring/measurement_json.h"
#include "posenc/support/process.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace posenc::cli {

using namespace suite;
namespace {

std::string& first_argument() {
  static std::string name = "posenc";
  return name;
}

/// This program, as start_process() finds it.
std::string program_file() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && std::filesystem::exists(here, error)) return here.string();
  // Its file was replaced since the start, or there is no /proc.
  return std::filesystem::exists("/proc/self/exe", error) ? "/proc/self/exe" : first_argument();
}

TimingRequest request_from(const Json& document) {
  TimingRequest request = {.rows = {},
                           .samples = document.at("samples").get<int>(),
                           .seconds_per_sample = document.at("seconds_per_sample").get<double>(),
                           .seed = document.at("seed").get<std::uint64_t>()};
  for (const Json& row : document.at("rows"))
    request.rows.push_back({measurement_from(row.at("what")), row.at("twice").get<bool>()});
  return request;
}

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error(fmt::format("a process that times cannot be run: {}", why));
}

}  // namespace

void remember_program(const char* name) { first_argument() = name; }

Timing time_in_new_process(const TimingRequest& request) {
  Json rows = Json::array();
  for (const auto& [what, twice] : request.rows)
    rows.push_back({{"what", to_json(what)}, {"twice", twice}});
  const Json document = {{"samples", request.samples},
                         {"seconds_per_sample", request.seconds_per_sample},
                         {"seed", request.seed},
                         {"rows", std::move(rows)}};
  const std::string asked = document.dump() + '\n';
  // The writing end closes with this process, however that ends, and so tells the other one.
  auto [in, request_end] = make_pipe();
  const File out = temporary_file(), err = temporary_file();
  const Process process = start_process(program_file(), {"measure", timing_option},
                                        {fileno(in.get()), fileno(out.get()), fileno(err.get())});
  in.reset();
  // What a process that has ended does not read is lost: its exit code tells.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::fwrite(asked.data(), 1, asked.size(), request_end.get());
  std::signal(SIGPIPE, before);
  const int code = wait_for(process);
  if (code != good) {
    const std::string message = content_of(err.get());
    fail(message.empty() ? fmt::format("it ended with exit code {}", code)
                         : message.substr(0, message.find('\n')));
  }
  try {
    const Json json = Json::parse(content_of(out.get()));
    return {json.at("seconds").get<std::vector<double>>(),
            json.at("second_half").get<std::vector<double>>(),
            json.at("timed_seconds").get<double>(), json.at("lost_seconds").get<double>()};
  } catch (const Json::exception&) {
    fail("it wrote no result");
  }
}

int time_on_request() {
  std::string asked;
  std::getline(std::cin, asked);
  TimingRequest request;
  try {
    request = request_from(Json::parse(asked));
  } catch (const std::exception&) {
    throw InvalidArgument(fmt::format(
        "standard input is not a request; allowed with {}: one of posenc measure", timing_option));
  }
  // If the process that started this one ends, nobody waits for the result.
  std::thread([] {
    wait_for_end_of_input();
    std::_Exit(EXIT_FAILURE);
  }).detach();
  const Timing timing = time_rows(request);
  write_all("", text_of({{"seconds", timing.seconds},
                         {"second_half", timing.second_half},
                         {"timed_seconds", timing.timed_seconds},
                         {"lost_seconds", timing.lost_seconds}}));
  return good;
}

}  // namespace posenc::cli
