// The posenc command: its subcommands, the parser of its arguments, and the reporting of errors.
#include "cli/commands.h"

#include "posenc/support/program.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <memory>
#include <new>
#include <sstream>

namespace posenc::cli {

using namespace suite;
namespace {

/// help2man separates a description from its name only if it begins at this column or further
/// right.
constexpr std::size_t help_column = 24;
constexpr const char* common_sections = R"(
Environment:
  POSENC_BACKEND        for experiments: the backend or backend:isa to use if a program names no
                        backend; it must promise the accuracy that the program asks for

Exit status:
  0                     success
  1                     a check failed
  2                     bad input, or a file that cannot be read or written)";

/// Formats the help the same way with every version of CLI11. help2man makes the manual pages from
/// it.
class Formatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string arguments = app->get_require_subcommand_min() > 0 ? " SUBCOMMAND" : "";
    for (const CLI::Option* each : app->get_options()) {
      if (each->nonpositional()) continue;
      arguments += each->get_required() ? " " + each->get_name() : " [" + each->get_name() + ']';
    }
    return fmt::format("{}\n\nUsage: {} [OPTIONS]{}\n{}{}{}\n{}\n", app->get_description(), name,
                       arguments, make_positionals(app), make_groups(app, mode),
                       make_subcommands(app, mode), app->get_footer());
  }
  /// Leaves out the list of excluded options, because its order would vary.
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() ? "" : ' ' + option->get_type_name();
  }
};

/// Why the parser refused the command line: an argument that it does not know, or its own reason.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  Names stray = app.remaining(true);
  std::erase(stray, "--");
  std::string fault = error.what();
  if (!stray.empty()) {
    const bool is_option = stray.front().starts_with('-');
    fault = fmt::format("unknown {} '{}'", is_option ? "option" : "argument", stray.front());
  }
  return fmt::format("{}; see {}{} --help", fault, app.get_name(),
                     chosen.empty() ? "" : " " + chosen.front()->get_name());
}

int run(const Names& arguments) {
  CLI::App app(
      "Measure sinusoidal positional encodings, pick the fastest, and check tables from elsewhere",
      "posenc");
  set_help(app, {{"posenc list", "what runs here, and which backend is used"},
                 {"posenc pick", "find the fastest backend that is accurate enough"},
                 {"posenc accuracy --help", "the options and examples of a command"}});
  app.set_version_flag(
      "--version",
      fmt::format("posenc {} ({}, xsimd {})", library_version(), compiler(), xsimd_version()),
      "print the versions of posenc, its compiler and xsimd, and exit");
  app.require_subcommand(1);
  Options options;
  for (const auto add :
       {add_list_command, add_accuracy_command, add_measure_command, add_pick_command,
        add_compare_command, add_generate_command, add_check_command})
    add(app, options);
  if (!parse(app, arguments)) return good;
  // Refuse an output that cannot be written before long work begins.
  check_output(options.output);
  return options.run(options);
}

}  // namespace

void set_help(CLI::App& app, const std::vector<Example>& examples) {
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(help_column);
  app.get_formatter()->label("POSITIONALS", "Positionals");
  app.option_defaults()->group("Options");
  app.set_help_flag("-h,--help", "print this help and exit");
  std::string footer = "Examples:\n";
  for (const auto& [line, what] : examples)
    footer += fmt::format("  {}\n{:{}}{}\n", line, "", help_column, what);
  app.footer(footer + common_sections);
}

CLI::App& add_command(CLI::App& program, Options& options, int (*run)(const Options& options),
                      const std::string& name, const std::string& description,
                      const std::vector<Example>& examples) {
  CLI::App& app = *program.add_subcommand(name, help_lines(description))->group("Subcommands");
  set_help(app, examples);
  app.callback([&options, run] { options.run = run; });
  return app;
}

bool parse(CLI::App& app, const Names& arguments) {
  try {
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));  // CLI11 takes them in reverse
    return true;
  } catch (const CLI::Success& wanted) {  // --help and --version
    std::ostringstream text, unused;
    app.exit(wanted, text, unused);
    write_all("", text.str());
    return false;
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fault_of(app, error));
  }
}

}  // namespace posenc::cli

int posenc::cli::run_command(int argc, char** argv) {
  prepare_standard_streams();
  try {
    const Names arguments = program_arguments(argc, argv);
#ifdef POSENC_STARTS_PROCESSES
    if (argc > 0) remember_program(argv[0]);
    if (arguments == Names{timing_argument}) return time_on_request();
#endif
    return run(arguments);
  } catch (const std::bad_alloc&) {
    print_message("not enough memory");
  } catch (const std::exception& error) {
    print_message(error.what());
  }
  return bad_input;
}
