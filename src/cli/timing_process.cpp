#include "cli/measuring.h"

#include "cli/commands.h"
#include "cli/output.h"

#include "posenc/suite/measuring/measurement_json.h"
#include "posenc/support/process.h"
#include "posenc/support/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>

namespace posenc::cli {

using namespace suite;
namespace {

std::string& first_argument() {
  static std::string name = "posenc";
  return name;
}

TimingRequest request_from(const Json& document) {
  TimingRequest request = {.rows = {},
                           .seconds_per_sample = document.at("seconds_per_sample").get<double>(),
                           .seed = document.at("seed").get<std::uint64_t>()};
  for (const JsonNode& each : JsonNode{document, ""}["rows"].elements()) {
    request.rows.push_back({measurement_from(each["what"]), each.value.at("samples").get<int>(),
                            each.value.at("twice").get<bool>()});
  }
  return request;
}

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error(fmt::format("a process that times cannot be run: {}", why));
}

}  // namespace

void remember_program(const char* name) { first_argument() = name; }

Timing time_in_new_process(const TimingRequest& request) {
  ProcessInput in;
  const File out = temporary_file(), err = temporary_file();
  const Process process = start_process(program_file(first_argument()), {"measure", timing_option},
                                        {in.reading_end(), fileno(out.get()), fileno(err.get())});
  Json rows = Json::array();
  for (const auto& [what, samples, twice] : request.rows)
    rows.push_back({{"what", to_json(what)}, {"samples", samples}, {"twice", twice}});
  const Json asked = {{"seconds_per_sample", request.seconds_per_sample},
                      {"seed", request.seed},
                      {"rows", std::move(rows)}};
  in.send(asked.dump() + '\n');
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
  end_with_standard_input();
  const Timing timing = time_rows(request);
  write_all("", text_of({{"seconds", timing.seconds},
                         {"second_half", timing.second_half},
                         {"timed_seconds", timing.timed_seconds},
                         {"lost_seconds", timing.lost_seconds}}));
  return good;
}

}  // namespace posenc::cli
