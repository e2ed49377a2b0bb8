// The posenc command: its subcommands, the parser of its arguments, and the reporting of errors.
#include "cli/commands.h"

#include "posenc/support/program.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
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
/// Newer versions of CLI11 break lines at 65 columns; older versions do not break them.
constexpr std::size_t help_width = 65;

constexpr const char* common_sections = R"(
Environment:
  POSENC_BACKEND        for experiments: backend or backend:isa to use if the program names none;
                        it must promise the accuracy that the program asks for

Exit status:
  0                     success
  1                     a check failed
  2                     bad input, or failed input or output)";

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

std::string help_lines(const std::string& text) { return join(broken(text, help_width), "\n"); }

std::string footer_of(const std::vector<Subcommand::Example>& examples) {
  std::string footer = "Examples:\n";
  for (const auto& [line, what] : examples)
    footer += fmt::format("  {}\n{:{}}{}\n", line, "", help_column, what);
  return footer + common_sections;
}

/// Adds the options and the footer of the subcommand.
void fill(CLI::App& command, Options& options, const Subcommand& subcommand) {
  command.footer(footer_of(subcommand.examples));
  const std::vector<Rule> known = rules(subcommand);
  const std::string of_output = subcommand.formats.empty() ? "" : " --format --output";
  for (const std::string& key : words_of(subcommand.options + of_output)) {
    const Rule& rule = *std::ranges::find(known, key, &Rule::key);
    const auto end = key.find_last_not_of(".?") + 1;
    const std::string name = key.substr(0, end), kind = key.substr(end);
    const auto take = [&options, name, take = rule.take](const Names& values) {
      for (const std::string& each : values) {
        if (const std::string allowed = take(options, each); !allowed.empty())
          throw_invalid("{} is '{}'; allowed: {}", name, each, allowed);
      }
      return true;
    };
    const auto other = subcommand.descriptions.find(key);
    CLI::Option& option = *command.add_option(
        name, take,
        help_lines(other == subcommand.descriptions.end() ? rule.description : other->second));
    option.type_name(rule.value)->expected(rule.value.empty() ? 0 : 1);
    const bool is_positional = !name.starts_with("--");
    option.required(is_positional && kind != "?");
    if (kind != "...") continue;
    option.multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(is_positional);
    if (!rule.value.ends_with("...")) option.type_name(rule.value + " ...");
  }
  for (const auto& [option, others] : subcommand.excludes) {
    for (const std::string& each : words_of(others)) command.get_option(option)->excludes(each);
  }
  for (const auto& [option, needed] : subcommand.needs) command.get_option(option)->needs(needed);
}

void add(CLI::App& app, Options& options, const Subcommand& subcommand) {
  CLI::App& command = *app.add_subcommand(subcommand.name, help_lines(subcommand.description));
  command.group("Subcommands")->get_help_ptr()->group("Options");
  command.callback([&options, run = subcommand.run] { options.run = run; });
  fill(command, options, subcommand);
}

/// Sets how the help looks.
void dress(CLI::App& app) {
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(help_column);
  app.get_formatter()->label("POSITIONALS", "Positionals");
  app.option_defaults()->group("Options");
  app.set_help_flag("-h,--help", "print this help and exit");
}

/// Why the parser refused the command line: an argument that no option takes, or the parser's own
/// reason.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  Names stray = app.remaining(true);
  std::erase(stray, "--");
  const std::string fault =
      stray.empty() ? error.what() : fmt::format("argument is '{}'", stray.front());
  return fmt::format("{}; allowed: see {}{} --help", fault, app.get_name(),
                     chosen.empty() ? "" : " " + chosen.front()->get_name());
}

/// Returns false if the arguments ask for the help or the version, after printing it.
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

int run(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Sinusoidal positional encodings: build them, measure every way of building them, pick the "
      "fastest.",
      "posenc");
  dress(app);
  app.set_version_flag(
      "--version",
      fmt::format("posenc {} ({}, xsimd {})", library_version(), compiler(), xsimd_version()),
      "print the versions of posenc, its compiler and xsimd, and exit");
  app.footer(footer_of({{"posenc list", "what runs here, and which backend is used"},
                        {"posenc pick", "find the fastest backend that is accurate enough"},
                        {"posenc accuracy --help", "the options and examples of a command"}}));
  app.require_subcommand(1);
  Options options;
  for (const auto command : {list_command, accuracy_command, measure_command, pick_command,
                             generate_command, check_command, compare_command})
    add(app, options, command());
  if (!parse(app, arguments)) return good;
  // Refuse an output that cannot be written before long work begins.
  check_output(options.output);
  return options.run(options);
}

}  // namespace

std::optional<Options> read_options(const Subcommand& subcommand, const Names& arguments) {
  CLI::App app(help_lines(subcommand.description), subcommand.name);
  dress(app);
  Options options;
  fill(app, options, subcommand);
  if (!parse(app, arguments)) return {};
  return options;
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
