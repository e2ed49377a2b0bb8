#include "cli/help.h"

#include "cli/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>

#include <cstddef>
#include <memory>

namespace posenc::cli {
namespace {

/// help2man takes a name and its description apart if the description begins here or further right.
constexpr std::size_t help_column = 24;
/// Newer versions of the parser break lines at 65 columns, older ones do not.
constexpr std::size_t help_width = 65;

constexpr const char* common_sections = R"(
Environment:
  POSENC_BACKEND        for experiments: the backend, or backend:isa, that the library uses if a
                        program names none, of those that promise the accuracy asked for

Exit status:
  0                     success
  1                     a check failed
  2                     bad input, or failed input or output)";

class Formatter : public CLI::Formatter {
 public:
  /// What each version of the parser words or breaks in its own way is put together here.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string arguments = app->get_require_subcommand_min() > 0 ? " SUBCOMMAND" : "";
    for (const CLI::Option* each : app->get_options()) {
      if (each->nonpositional()) continue;
      const std::string& argument = each->get_name();
      arguments += each->get_required() ? ' ' + argument : " [" + argument + ']';
    }
    return fmt::format("{}\n\nUsage: {} [OPTIONS]{}\n{}{}{}\n{}\n", app->get_description(), name,
                       arguments, make_positionals(app), make_groups(app, mode),
                       make_subcommands(app, mode), app->get_footer());
  }

  /// " NAME"; without the options that this one excludes, whose order would vary.
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() ? "" : ' ' + option->get_type_name();
  }
};

}  // namespace

std::string help_lines(const std::string& text) {
  return fmt::format("{}", fmt::join(broken(text, help_width), "\n"));
}

std::string help_footer(const std::vector<Subcommand::Example>& examples) {
  std::string footer = "Examples:\n";
  for (const auto& [line, what] : examples) {
    const bool fits = line.size() + 4 <= help_column;
    footer += fits ? fmt::format("  {:<{}}{}\n", line, help_column - 2, what)
                   : fmt::format("  {}\n{:{}}{}\n", line, "", help_column, what);
  }
  return footer + common_sections;
}

void set_help_style(CLI::App& app) {
  const auto formatter = std::make_shared<Formatter>();
  formatter->column_width(help_column);
  formatter->label("POSITIONALS", "Positionals");
  app.formatter(formatter);
  app.option_defaults()->group("Options");
}

}  // namespace posenc::cli
