// Timing in separate processes: a posenc command starts a new process for each request, and the
// process answers it.
#include "cli/commands.h"

#include "posenc/support/limits.h"
#include "posenc/support/printable.h"
#include "posenc/support/program.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <stdexcept>

namespace posenc::cli {

using namespace suite;

#ifndef POSENC_STARTS_PROCESSES

TimeRows time_in_own_processes(std::string& why_one_process) {
  why_one_process = "this system starts no processes";
  return time_rows;
}

#else

namespace {

const char* first_argument = "posenc";  // how the program was started

/// The file by which start_process() finds this program, even if it was replaced since the start.
std::string program_file() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return first_argument;
  return std::filesystem::exists(here, error) ? here.string() : "/proc/self/exe";
}

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error(fmt::format("the process that measures times cannot be run: {}", why));
}

}  // namespace

TimeRows time_in_own_processes(std::string& why_one_process) {
  return [&why_one_process, is_first = true](const TimingRequest& request) mutable {
    if (!why_one_process.empty()) return time_rows(request);
    try {
      const Timing timing = time_by_program(program_file(), request);
      is_first = false;
      return timing;
    } catch (const std::exception& error) {
      if (!is_first) throw;
      why_one_process = shortened(escaped(error.what()), max_text_bytes);
      return time_rows(request);
    }
  };
}

Timing time_by_program(const std::string& program, const TimingRequest& request) {
  Json rows = Json::array();
  for (const Measurement& row : request.rows) rows.push_back(to_json(row));
  const Json asked = {{"samples", request.samples},
                      {"seconds_per_sample", request.seconds_per_sample},
                      {"seed", request.seed},
                      {"rows", std::move(rows)}};
  try {
    const Json answer = Json::parse(output_of_program(program, {timing_argument}, asked.dump()));
    return {answer.at("seconds"), answer.at("timed_seconds"), answer.at("lost_seconds")};
  } catch (const Json::exception&) {
    fail("it wrote no result");
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void remember_program(const char* name) { first_argument = name; }

int time_on_request() {
  TimingRequest request;
  try {
    const Json asked = Json::parse(std::cin);
    request = {.rows = {},
               .samples = asked.at("samples"),
               .seconds_per_sample = asked.at("seconds_per_sample"),
               .seed = asked.at("seed")};
    for (const Json& row : asked.at("rows")) request.rows.push_back(measurement_from(row));
  } catch (const std::exception&) {
    throw_invalid("standard input is not a request; allowed with {}: a request of posenc measure",
                  timing_argument);
  }
  const Timing timing = time_rows(request);
  write_all("", text_of({{"seconds", timing.seconds},
                         {"timed_seconds", timing.timed_seconds},
                         {"lost_seconds", timing.lost_seconds}}));
  return good;
}

#endif

}  // namespace posenc::cli
