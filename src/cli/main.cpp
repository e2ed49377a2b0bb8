// What the posenc command does. Exit codes: 0 good, 1 a check failed, 2 bad input or failed input or output.
#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/pick_process.h"

#include "posenc/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
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

/// One line whatever the message holds: it may quote what the user typed.
std::string one_line(std::string message) {
  std::ranges::replace_if(
      message, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return message;
}

int fail(const std::string& message) {
  fmt::print(stderr, "posenc: {}\n", one_line(message));
  return bad_input;
}

/// The subcommand on the command line, else the command itself.
const CLI::App& chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : *subcommands.front();
}

/// What the parser says about a command line that it does not take.
std::string message_of(const CLI::ParseError& error, const CLI::App& app) {
  const std::string what = error.what();
  const std::string parent = app.get_parent() == nullptr ? "" : app.get_parent()->get_name() + " ";
  return fmt::format("{}; see {}{} --help", what.substr(0, what.find('\n')), parent, app.get_name());
}

/// The first argument that no option took, with what is allowed in its place.
std::string unknown_argument(const std::vector<std::string>& unknown, int argc, char** argv, const CLI::App& app) {
  const auto first =
      std::find_if(argv + 1, argv + argc, [&](const char* each) { return std::ranges::count(unknown, each) > 0; });
  const std::string name = first == argv + argc ? unknown.front() : *first;
  std::vector<std::string> allowed;
  for (const CLI::App* each : app.get_subcommands({})) allowed.push_back(each->get_name());
  for (const CLI::Option* each : app.get_options()) {
    if (!each->get_lnames().empty() && !each->get_group().empty()) allowed.push_back("--" + each->get_lnames().front());
  }
  return fmt::format("argument is '{}'; allowed: {}", name, fmt::join(allowed, ", "));
}

/// posenc --man COMMAND: how the manual pages are made.
int write_manual(const CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  if (commands.empty() && name != app.get_name()) {
    return fail(fmt::format("--man is '{}'; allowed: {} or one of its commands", name, app.get_name()));
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
  CLI::App app("Sinusoidal positional encodings: build them, measure every way of building them, pick the fastest.",
               "posenc");
  app.set_version_flag("--version",
                       fmt::format("posenc {} ({}, xsimd {})", library_version(), compiler(), xsimd_version()));
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
  } catch (const CLI::ExtrasError&) {
    return fail(unknown_argument(app.remaining(true), argc, argv, chosen(app)));
  } catch (const CLI::ParseError& error) {
    return fail(message_of(error, chosen(app)));
  }
  if (!manual.empty()) return write_manual(app, manual);
  if (!completion.empty()) return write_completion(app, completion);
  if (!action) return fail("subcommand is missing; allowed: list, accuracy, pick, profile, generate, compare");
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
              SIG_IGN);  // a write beyond the limit of file sizes is an error, with its clean-up, like any other
  if (argc > 0) remember_program(argv[0]);
  return run_and_report(argc, argv);
}
