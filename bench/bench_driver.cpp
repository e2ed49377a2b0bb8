// Times what a script tells it to, in this process and in warm memory, so that the script can take
// turns between this library and another program: samples of both are then spread over the same
// minutes.
// Commands come on standard input; --help lists them (`footer` below).
#include "driver_cases.h"
#include "program.h"

#include "posenc/cpu.h"
#include "posenc/spec.h"
#include "posenc/support/atomic_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {
namespace {

std::int64_t integer(std::string_view name, std::string_view text) {
  constexpr std::int64_t largest = std::int64_t{1} << 31;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > largest) {
    throw InvalidArgument(
        fmt::format("{} is '{}'; allowed: an integer from 1 to {}", name, text, largest));
  }
  return value;
}

BatchOrder order(std::string_view name) {
  if (name == "batch_first") return BatchOrder::batch_first;
  if (name == "sequence_first") return BatchOrder::sequence_first;
  throw InvalidArgument(fmt::format("order is '{}'; allowed: batch_first, sequence_first", name));
}

EncodingSource source(std::string_view name) {
  if (name == "automatic") return EncodingSource::automatic;
  if (name == "fused") return EncodingSource::fused;
  if (name == "cached") return EncodingSource::cached;
  throw InvalidArgument(fmt::format("source is '{}'; allowed: automatic, fused, cached", name));
}

CaseOptions options_from(std::istringstream& words) {
  CaseOptions options;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "rows")
      options.rows = integer(key, value);
    else if (key == "d_model")
      options.d_model = integer(key, value);
    else if (key == "batch")
      options.batch = integer(key, value);
    else if (key == "threads")
      options.threads = static_cast<int>(std::min<std::int64_t>(integer(key, value), 1024));
    else if (key == "order")
      options.order = order(value);
    else if (key == "source")
      options.source = source(value);
    else if (key == "input")
      options.input = value;
    else
      throw InvalidArgument(
          fmt::format("option is '{}'; allowed: rows, d_model, batch, threads, order, source, "
                      "input, each as NAME=VALUE",
                      word));
  }
  integer("rows", fmt::format("{}", options.rows));
  integer("d_model", fmt::format("{}", options.d_model));
  return options;
}

double seconds_of(Case& timed, std::int64_t calls) {
  using Clock = std::chrono::steady_clock;
  timed.run();  // The other program, which had the turn before, has emptied the caches.
  const auto start = Clock::now();
  for (std::int64_t call = 0; call < calls; ++call) timed.run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Driver {
 public:
  /// The reply, without "ok".
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command, name;
    words >> command >> name;
    if (command == "case") {
      std::string kind;
      words >> kind;
      cases_[name] = make_case(kind, options_from(words));
      cases_[name]->run();
      return "";
    }
    if (command == "time") {
      std::string calls;
      words >> calls;
      return fmt::format("{:.9e}", seconds_of(find(name), integer("calls", calls)));
    }
    if (command == "cpu") return cpu().model;
    if (command == "write") {
      std::string path;
      std::getline(words >> std::ws, path);
      const std::span<const float> values = find(name).output();
      OutputFile file(path);
      file.write(values.data(), values.size_bytes());
      file.commit();
      return "";
    }
    if (command == "forget") {
      find(name);
      cases_.erase(name);
      return "";
    }
    throw InvalidArgument(
        fmt::format("command is '{}'; allowed: case, time, write, forget, cpu", command));
  }

 private:
  Case& find(const std::string& name) {
    const auto found = cases_.find(name);
    if (found == cases_.end())
      throw InvalidArgument(fmt::format("name is '{}'; allowed: that of a case made", name));
    return *found->second;
  }

  std::map<std::string, std::unique_ptr<Case>> cases_;
};

/// 2 where a command was refused: a script that does not read its replies learns it too.
int serve() {
  Driver driver;
  int code = 0;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const std::string reply = driver.answer(line);
      fmt::print("ok{}{}\n", reply.empty() ? "" : " ", reply);
    } catch (const std::exception& error) {
      fmt::print("error {}\n", error.what());
      code = 2;
    }
    std::fflush(stdout);
  }
  return code;
}

constexpr const char* footer =
    "Commands, one a line on standard input; each has one line of reply, 'ok ...' or 'error "
    "REASON':\n"
    "  case NAME KIND rows=N d_model=N [batch=N] [order=batch_first|sequence_first] [threads=N]\n"
    "                 [source=automatic|fused|cached] [input=FILE]\n"
    "  time NAME CALLS        runs the case once, then so often again; replies 'ok SECONDS',\n"
    "                         wall time of all but the first\n"
    "  write NAME FILE        what the last run computed, as raw float32\n"
    "  forget NAME            frees its memory\n"
    "  cpu                    replies with the CPU's name\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  CLI::App app(
      "Times what a script tells it to, in warm memory: for comparisons with other programs.",
      "bench_driver");
  app.footer(fmt::format("{}\nKinds: {}", posenc::bench::footer,
                         fmt::join(posenc::bench::case_kinds(), ", ")));
  try {
    posenc::bench::parse(argc, argv, app);
    return posenc::bench::serve();
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    return posenc::bench::report(app, error);
  }
}
