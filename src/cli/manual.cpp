#include "cli/manual.h"

#include "cli/table.h"

#include "posenc/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace posenc::cli {
namespace {

constexpr std::size_t help_column = 24;
constexpr std::string_view exit_codes =
    "Exit codes: 0 good, 1 a check failed, 2 bad input or failed input or output.";

bool is_hidden(const CLI::Option& option) { return option.get_group().empty(); }

struct Entry {
  std::string name;
  std::string description;
};

const std::vector<Entry>& environment() {
  static const std::vector<Entry> variables = {
      {"POSENC_BACKEND",
       "backend, or backend:isa, that the library uses where its caller names none; for "
       "experiments"},
      {"POSENC_PROFILE", "the profile, in the place of the file below"},
      {"XDG_CONFIG_HOME", "folder of the user's settings (default: .config in HOME)"},
      {"HOME", "folder of the user"},
      {"NO_COLOR", "if it is not empty, no colours on a terminal"}};
  return variables;
}

const std::vector<Entry>& files() {
  static const std::vector<Entry> paths = {
      {"$XDG_CONFIG_HOME/posenc/profile.json",
       "the profile: what posenc pick measured on this CPU, and the library selects by"}};
  return paths;
}

std::string lines_of(std::string_view text, std::size_t width, std::string_view indent = "") {
  return fmt::format("{}", fmt::join(broken(text, width), fmt::format("\n{}", indent)));
}

/// A name in the first column, and what it is in the second.
std::string entry_text(const Entry& entry) {
  const std::string indent(help_column, ' ');
  const std::string name = "  " + entry.name;
  const std::string gap = name.size() < help_column ? indent.substr(name.size()) : "\n" + indent;
  return name + gap + lines_of(entry.description, page_width - help_column, indent) + "\n";
}

std::string section_text(std::string_view title, const std::vector<Entry>& entries) {
  if (entries.empty()) return "";
  std::string text = fmt::format("\n{}:\n", title);
  for (const Entry& each : entries) text += entry_text(each);
  return text;
}

/// "--preset NAME ..."
Entry entry_of(const CLI::Option& option) {
  const bool has_value = option.get_type_size() > 0 && option.get_expected_max() > 0;
  return {fmt::format("{}{}{}", option.get_name(option.get_positional(), true),
                      has_value ? " " + option.get_type_name() : "",
                      option.get_expected_max() > 1 ? " ..." : ""),
          option.get_description()};
}

std::string usage_of(const CLI::App& app, const std::string& name) {
  std::string usage = fmt::format("Usage: {} [OPTIONS]", name);
  for (const CLI::Option* each : app.get_options()) {
    if (each->get_positional()) usage += " " + each->get_name(true);
  }
  return usage + (app.get_subcommands({}).empty() ? "" : " [SUBCOMMAND]");
}

std::vector<Entry> entries_of(const CLI::App& app, bool positional) {
  std::vector<Entry> entries;
  for (const CLI::Option* each : app.get_options()) {
    if (!is_hidden(*each) && each->get_positional() == positional)
      entries.push_back(entry_of(*each));
  }
  return entries;
}

std::string commands_text(const CLI::App& app) {
  std::vector<Entry> entries;
  for (const CLI::App* each : app.get_subcommands({})) {
    entries.push_back({each->get_name(), each->get_description()});
  }
  return section_text("Subcommands", entries);
}

/// Text as troff takes it: no backslash, hyphen or leading dot with a meaning of its own.
std::string troff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
      escaped += "\\&";
      escaped += c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string page_name(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? command.get_name()
             : command.get_parent()->get_name() + "-" + command.get_name();
}

std::string typed_name(const CLI::App& command) {
  std::string name = page_name(command);
  std::ranges::replace(name, '-', ' ');
  return name;
}

void append_options(std::string& page, const CLI::App& command) {
  for (const CLI::Option* each : command.get_options()) {
    if (is_hidden(*each)) continue;
    const std::string value =
        each->get_type_size() > 0 && each->get_expected_max() > 0 ? each->get_type_name() : "";
    page += fmt::format(".TP\n\\fB{}\\fR{}{}\n{}\n", troff(each->get_name(false, true)),
                        value.empty() ? "" : " ",
                        value.empty() ? "" : fmt::format("\\fI{}\\fR", troff(value)),
                        troff(each->get_description()));
  }
}

void append_section(std::string& page, std::string_view title, const std::vector<Entry>& entries) {
  page += fmt::format(".SH {}\n", title);
  for (const Entry& each : entries) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", troff(each.name), troff(each.description));
  }
}

void append_commands(std::string& page, const CLI::App& app) {
  const auto commands = app.get_subcommands({});
  if (commands.empty()) return;
  page += ".SH COMMANDS\n";
  for (const CLI::App* each : commands) {
    page += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", troff(page_name(*each)),
                        troff(each->get_description()));
  }
}

/// The examples of the footer, as they are: text up to an empty line.
std::string examples_of(const CLI::App& command) {
  const std::string footer = command.get_footer();
  const std::size_t begin = footer.find('\n') + 1, end = footer.find("\n\n");
  return begin == 0 || end == std::string::npos ? "" : footer.substr(begin, end - begin);
}

}  // namespace

void describe(CLI::App& command, const std::vector<Example>& examples) {
  std::string footer = "Examples:\n";
  for (const Example& each : examples)
    footer += fmt::format("  {}\n      {}\n", each.line, each.what);
  footer += section_text("Environment", environment()) + section_text("Files", files());
  command.footer(footer + "\n" + std::string(exit_codes));
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode /*mode*/) const {
  return fmt::format("{}\n{}\n{}{}{}\n{}\n", lines_of(app->get_description(), page_width),
                     usage_of(*app, name), section_text("Positionals", entries_of(*app, true)),
                     section_text("Options", entries_of(*app, false)), commands_text(*app),
                     app->get_footer());
}

std::string manual_page(const CLI::App& command) {
  const bool is_main = command.get_parent() == nullptr;
  std::string synopsis = is_main ? " \\fICOMMAND\\fR" : "";
  for (const CLI::Option* each : command.get_options()) {
    if (each->get_positional()) synopsis += fmt::format(" \\fI{}\\fR", each->get_name(true));
  }
  std::string page = fmt::format(
      ".TH {} 1 \"\" \"posenc {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n"
      ".SH SYNOPSIS\n\\fB{}\\fR{} [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n{}\n",
      troff(page_name(command)), library_version(), troff(page_name(command)),
      troff(command.get_description()), troff(typed_name(command)), synopsis,
      troff(command.get_description()));
  append_commands(page, command);
  page += ".SH OPTIONS\n";
  append_options(page, command);
  if (const std::string examples = examples_of(command); !examples.empty()) {
    page += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", troff(examples));
  }
  append_section(page, "ENVIRONMENT", environment());
  append_section(page, "FILES", files());
  page += fmt::format(".SH EXIT STATUS\n{}\n", troff(exit_codes));
  if (!is_main) page += ".SH SEE ALSO\n\\fBposenc\\fR(1)\n";
  return page;
}

}  // namespace posenc::cli
