#include "cli/pick_process.h"

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/pick_run.h"
#include "cli/process.h"

#include "posenc/tuning/timing.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

namespace posenc::cli {
namespace {

std::string& first_argument() {
  static std::string name = "posenc";
  return name;
}

/// This program, as start_process() finds it.
std::string program() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && std::filesystem::exists(here, error)) return here.string();
  // Its file was replaced since the start, or there is no /proc.
  return std::filesystem::exists("/proc/self/exe", error) ? "/proc/self/exe" : first_argument();
}

Json json_of(const TimingRequest& request) {
  Json document = {{"dtype", to_string(request.type)},
                   {"threads", request.threads},
                   {"seconds_per_sample", request.seconds_per_sample},
                   {"seed", request.seed},
                   {"tables", Json::array()}};
  for (const TimingRequest::Table& table : request.tables) {
    Json candidates = Json::array();
    for (const auto& each : table.candidates) {
      candidates.push_back({{"backend", each.backend},
                            {"samples", each.samples},
                            {"stores", static_cast<int>(each.stores)}});
    }
    document["tables"].push_back({{"spec", to_json(table.spec)},
                                  {"rows", to_json(table.rows)},
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
      table.candidates.push_back({each.at("backend").get<std::string>(),
                                  each.at("samples").get<int>(),
                                  static_cast<StorePolicy>(each.at("stores").get<int>())});
    }
  }
  return request;
}

Json json_of(const TimingResult& result) {
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

}  // namespace

void remember_program(const char* name) { first_argument() = name; }

TimingResult time_in_new_process(const TimingRequest& request) {
  const File in = temporary_file(), out = temporary_file(), err = temporary_file();
  const std::string asked = text_of(json_of(request));
  std::fwrite(asked.data(), 1, asked.size(), in.get());
  if (std::fflush(in.get()) != 0) fail(std::generic_category().message(errno));
  std::rewind(in.get());
  const int code =
      wait_for(start_process(program(), {"pick", timing_option},
                             {fileno(in.get()), fileno(out.get()), fileno(err.get())}));
  if (code != good) {
    const std::string message = content_of(err.get());
    fail(message.empty() ? fmt::format("it ended with exit code {}", code)
                         : message.substr(0, message.find('\n')));
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
        "standard input is not a request; allowed with {}: one of posenc pick", timing_option));
  }
  write_all("", text_of(json_of(time_candidates(request))));
  return good;
}

}  // namespace posenc::cli
