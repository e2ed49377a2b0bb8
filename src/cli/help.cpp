// The text of --help: what CLI11 formats, and the sections below it.
#include "cli/subcommand.h"
#include "cli/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace posenc::cli {
namespace {

/// help2man takes a name and its description apart if the description begins here or further right.
constexpr std::size_t help_column = 24;

constexpr const char* common_sections = R"(
Environment:
  POSENC_BACKEND        for experiments: the backend, or backend:isa, that the library uses if a
                        program names none, of those that promise the accuracy asked for
  POSENC_PROFILE        the profile to use instead of the file below
  XDG_CONFIG_HOME       folder of the user's settings (default: .config in HOME)
  HOME                  folder of the user
  LOCALAPPDATA          on Windows, the folder of settings instead of these two

Files:
  $XDG_CONFIG_HOME/posenc/profile.json
                        the profile: what posenc pick --save measured on this CPU, and the library
                        selects by

Exit status:
  0                     success
  1                     a check failed
  2                     bad input, or failed input or output)";

class Formatter : public CLI::Formatter {
 public:
  /// At most one blank line in a row.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;)
      text.erase(at, 1);
    return text;
  }

  /// The parser's newer versions leave "Usage:" out.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    usage.erase(0, usage.find_first_not_of('\n'));
    usage.erase(usage.find_last_not_of('\n') + 1);
    return (usage.starts_with("Usage:") ? "\n" : "\nUsage: ") + usage + "\n";
  }

  /// " NAME ...", " [FILE]"; without the options that this one excludes, whose order would vary.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return "";
    const std::string value = option->get_type_name();
    return (option->get_expected_min() == 0 ? " [" + value + "]" : " " + value) +
           (option->get_expected_max() > 1 ? " ..." : "");
  }

  /// The parser's older versions break no lines.
  std::string make_option_desc(const CLI::Option* option) const override {
    return help_lines(option->get_description());
  }
};

/// What only newer versions of the parser format, and so only they have settings for.
template <class Newer>
void keep_lines(Newer& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
    formatter.enable_description_formatting(false);
    formatter.right_column_width(page_width - help_column);
  }
  if constexpr (requires { formatter.long_option_alignment_ratio(0.0f); })
    formatter.long_option_alignment_ratio(2.0f / help_column);
}

}  // namespace

std::string help_lines(const std::string& text) {
  return fmt::format("{}", fmt::join(broken(text, page_width - help_column), "\n"));
}

void describe(CLI::App& command, const std::vector<Example>& examples) {
  std::string footer = "Examples:\n";
  for (const auto& [line, what] : examples) {
    const bool fits = line.size() + 4 <= help_column;
    footer += fits ? fmt::format("  {:<{}}{}\n", line, help_column - 2, what)
                   : fmt::format("  {}\n{:{}}{}\n", line, "", help_column, what);
  }
  command.footer(footer + common_sections);
}

void set_help_style(CLI::App& app) {
  const auto formatter = std::make_shared<Formatter>();
  formatter->column_width(help_column);
  formatter->label("POSITIONALS", "Positionals");
  keep_lines(*formatter);
  app.formatter(formatter);
  app.option_defaults()->group("Options");
}

}  // namespace posenc::cli
