// The posenc command: its subcommands, and what becomes of their errors.
#include "cli/commands.h"
#include "cli/measuring.h"
#include "cli/output.h"
#include "cli/parse_error.h"

#include "posenc/support/environment.h"
#include "posenc/support/streams.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <vector>

namespace posenc::cli {
namespace {

int fail(const std::string& message) {
  print_message(message);
  return bad_input;
}

int run(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Sinusoidal positional encodings: build them, measure every way of building them, pick the "
      "fastest.",
      "posenc");
  set_help_style(app);
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag(
      "--version",
      fmt::format("posenc {} ({}, xsimd {})", library_version(), compiler(), xsimd_version()),
      "print the versions of posenc, its compiler and xsimd, and exit");
  describe(app, {{"posenc list", "what runs here, and which backend is used"},
                 {"posenc pick", "find the fastest backend that is accurate enough"},
                 {"posenc accuracy --help", "the options and examples of a command"}});
  app.require_subcommand(1);
  Action action;
  add_list_command(app, action);
  add_accuracy_command(app, action);
  add_measure_command(app, action);
  add_pick_command(app, action);
  add_generate_command(app, action);
  add_check_command(app, action);
  add_compare_command(app, action);
  try {
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));  // CLI11 takes them in reverse
  } catch (const CLI::Success& wanted) {                           // --help and --version
    std::ostringstream text, unused;
    app.exit(wanted, text, unused);
    write_all("", text.str());
    return good;
  } catch (const CLI::ParseError&) {
    return fail(parse_error(app, arguments));
  }
  return action();
}

int run_and_report(int argc, char** argv) {
  try {
    return run(program_arguments(argc, argv));
  } catch (const std::bad_alloc&) {
    return fail("not enough memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (const Interrupted&) {
    return bad_input;  // reached only if the signal does not end the program
  }
}

}  // namespace
}  // namespace posenc::cli

int posenc::cli::run_command(int argc, char** argv) {
  prepare_standard_streams();
  if (argc > 0) remember_program(argv[0]);
  return run_and_report(argc, argv);
}
