// What the posenc command does. Exit codes: 0 good, 1 a check failed, 2 bad input or failed input
// or output.
#include "cli/commands.h"
#include "cli/escape.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/parse_error.h"
#include "cli/pick_process.h"

#include "posenc/version.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

namespace posenc::cli {
namespace {

/// One line whatever the message holds: it may quote what the user typed, or what a file holds.
int fail(const std::string& message) {
  fmt::print(stderr, "posenc: {}\n", escaped(message));
  return bad_input;
}

/// posenc --man COMMAND: how the manual pages are made.
int write_manual(const CLI::App& app, const std::string& name) {
  const auto commands =
      app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  if (commands.empty() && name != app.get_name()) {
    return fail(
        fmt::format("--man is '{}'; allowed: {} or one of its commands", name, app.get_name()));
  }
  write_all("", manual_page(commands.empty() ? app : *commands.front()));
  return good;
}

int write_completion(const CLI::App& app, const std::string& shell) {
  if (shell != "bash") return fail(fmt::format("--completion is '{}'; allowed: bash", shell));
  write_all("", bash_completion(app));
  return good;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Sinusoidal positional encodings: build them, measure every way of building them, pick the "
      "fastest.",
      "posenc");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag(
      "--version",
      fmt::format("posenc {} ({}, xsimd {})", library_version(), compiler(), xsimd_version()),
      "print the versions of posenc, its compiler and xsimd, and exit");
  describe(app, {{"posenc list", "what runs here, and which backend is used"},
                 {"posenc pick", "find the fastest backend that is accurate enough"},
                 {"posenc accuracy --help", "the options and examples of a command"}});
  app.require_subcommand(0, 1);  // none at all is refused below, after unknown arguments
  app.formatter(std::make_shared<HelpFormatter>());
  std::string manual, completion;
  app.add_option("--man", manual)->group("");
  app.add_option("--completion", completion)->group("");
  Action action;
  add_list_command(app, action);
  add_accuracy_command(app, action);
  add_pick_command(app, action);
  add_profile_command(app, action);
  add_generate_command(app, action);
  add_compare_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help and --version
    std::ostringstream text, unused;
    app.exit(wanted, text, unused);
    write_all("", text.str());
    return good;
  } catch (const CLI::ParseError&) {
    return fail(parse_error(app, {argv + 1, argv + argc}));
  }
  if (!manual.empty()) return write_manual(app, manual);
  if (!completion.empty()) return write_completion(app, completion);
  if (!action)
    return fail("subcommand is missing; allowed: list, accuracy, pick, profile, generate, compare");
  return action();
}

int run_and_report(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (const Interrupted& interrupted) {
    std::signal(interrupted.signal, SIG_DFL);
    std::raise(interrupted.signal);
    return bad_input;
  }
}

}  // namespace
}  // namespace posenc::cli

int posenc::cli::run_command(int argc, char** argv) {
  std::signal(SIGXFSZ,
              SIG_IGN);  // a write beyond the limit of file sizes is an error, with its clean-up,
                         // like any other
  if (argc > 0) remember_program(argv[0]);
  return run_and_report(argc, argv);
}
