// The posenc command: its subcommands, and what becomes of their errors.
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/measuring.h"
#include "cli/output.h"

#include "posenc/support/environment.h"
#include "posenc/support/streams.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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

/// Why the parser refused the command line: an argument that nothing takes, and what is allowed in
/// its place, or the parser's reason.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const auto name_of = [](const auto* each) { return each->get_name(); };
  for (const std::string& word : app.remaining(true)) {
    if (word == "--") continue;
    const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word;
    const bool is_subcommand = chosen.empty() && !word.starts_with('-');
    const Names allowed = is_subcommand
                              ? names_of(app.get_subcommands({}), name_of)
                              : names_of(command.get_options([](const CLI::Option* each) {
                                  return each->nonpositional() && !each->get_group().empty();
                                }),
                                         name_of);
    return fmt::format("{} is '{}'; allowed: {}{}", is_subcommand ? "subcommand" : "argument", name,
                       fmt::join(allowed, ", "), did_you_mean(name, allowed));
  }
  return fmt::format("{}; allowed: see posenc{} --help", error.what(),
                     chosen.empty() ? "" : " " + command.get_name());
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
  app.footer(help_footer({{"posenc list", "what runs here, and which backend is used"},
                          {"posenc pick", "find the fastest backend that is accurate enough"},
                          {"posenc accuracy --help", "the options and examples of a command"}}));
  app.require_subcommand(1);
  Options options;
  for (const auto command : {list_command, accuracy_command, measure_command, pick_command,
                             generate_command, check_command, compare_command})
    add(app, options, command());
  try {
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));  // CLI11 takes them in reverse
  } catch (const CLI::Success& wanted) {                           // --help and --version
    std::ostringstream text, unused;
    app.exit(wanted, text, unused);
    write_all("", text.str());
    return good;
  } catch (const CLI::ParseError& error) {
    return fail(fault_of(app, error));
  }
  // Before long work.
  if (!is_standard_output(options.output)) check_writable(options.output, Folders::must_exist);
  return options.run(options);
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
