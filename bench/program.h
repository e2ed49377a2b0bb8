// The main program of every benchmark binary.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace CLI {
class App;  // Its headers cost every file that includes them many seconds of compiling.
}

namespace posenc::bench {

struct Program {
  std::string name;
  std::string description = {};
  std::string_view notes = {};  ///< whole lines above the table: what its columns mean
  std::function<void(CLI::App& app)> add_options = {};  ///< the program's own, if it has any
  std::function<void()> register_benchmarks;            ///< calls add() for each
};

/// Parses the command line (the program's own options, then those of Google Benchmark), registers
/// the benchmarks, and runs them. Returns the exit code: 0 good, 1 an encoder was wrong and not
/// timed, 2 bad input or nothing to run.
int run(int argc, char** argv, const Program& program);

/// Parses the command line. Throws CLI::Success if help is asked for, and InvalidArgument with one
/// line in this project's own words if the parser refuses it.
void parse(int argc, char** argv, CLI::App& app);

/// Says on stderr, in one line, why the program ends; returns its exit code.
int report(const CLI::App& app, const std::exception& error);

}  // namespace posenc::bench
