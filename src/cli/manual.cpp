#include "cli/manual.h"

#include "cli/table.h"

#include "posenc/data_type.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace posenc::cli {
namespace {

constexpr std::size_t help_column = 24;
constexpr std::string_view exit_codes = "Exit codes: 0 good, 1 a check failed, 2 bad input or failed input or output.";

bool is_hidden(const CLI::Option& option) { return option.get_group().empty(); }

std::string in_help_column(const std::string& text) {
  return fmt::format("{}", fmt::join(broken(text, page_width - help_column), "\n"));
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
  return command.get_parent() == nullptr ? command.get_name()
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
    const std::string value = each->get_type_size() > 0 && each->get_expected_max() > 0 ? each->get_type_name() : "";
    page += fmt::format(".TP\n\\fB{}\\fR{}{}\n{}\n", troff(each->get_name(false, true)), value.empty() ? "" : " ",
                        value.empty() ? "" : fmt::format("\\fI{}\\fR", troff(value)), troff(each->get_description()));
  }
}

void append_commands(std::string& page, const CLI::App& app) {
  const auto commands = app.get_subcommands({});
  if (commands.empty()) return;
  page += ".SH COMMANDS\n";
  for (const CLI::App* each : commands) {
    page += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", troff(page_name(*each)), troff(each->get_description()));
  }
}

/// The examples of the footer, as they are: text up to an empty line.
std::string examples_of(const CLI::App& command) {
  const std::string footer = command.get_footer();
  const std::size_t begin = footer.find('\n') + 1, end = footer.find("\n\n");
  return begin == 0 || end == std::string::npos ? "" : footer.substr(begin, end - begin);
}

/// What bash shall offer for the value of an option; empty: names of files.
std::string values_of(const CLI::Option& option) {
  const std::string name = option.get_lnames().empty() ? "" : option.get_lnames().front();
  std::set<std::string> values;
  if (name == "preset") {
    for (const Preset& each : presets()) values.emplace(each.name);
  } else if (name == "backend") {
    for (const Backend* each : backends()) values.emplace(each->name());
  } else if (name == "isa") {
    for (const Backend* each : backends()) values.emplace(to_string(each->isa()));
  } else if (name == "dtype") {
    for (const DataType each : all_data_types) values.emplace(to_string(each));
  } else if (name == "layout") {
    for (const Layout each : {Layout::interleaved, Layout::halves, Layout::halves_cos_first}) {
      values.emplace(to_string(each));
    }
  } else if (name == "spacing") {
    for (const Spacing each : {Spacing::paper, Spacing::inclusive}) values.emplace(to_string(each));
  } else if (name == "format") {
    const std::string description = option.get_description();
    std::istringstream words(description.substr(0, description.find(" (")));
    for (std::string word; std::getline(words >> std::ws, word, ',');) values.emplace(word);
  }
  return fmt::format("{}", fmt::join(values, " "));
}

/// One branch of a case: what the command takes.
std::string completion_of(const CLI::App& command) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::Option* each : command.get_options()) {
    if (is_hidden(*each) || each->get_lnames().empty()) continue;
    const std::string name = "--" + each->get_lnames().front();
    names.push_back(name);
    if (const std::string values = values_of(*each); !values.empty()) {
      cases += fmt::format("        {}) words=\"{}\" ;;\n", name, values);
    }
  }
  return fmt::format("    {})\n      case \"$previous\" in\n{}        *) words=\"{}\" ;;\n      esac ;;\n",
                     command.get_name(), cases, fmt::join(names, " "));
}

}  // namespace

void describe(CLI::App& command, const std::vector<Example>& examples) {
  std::string footer = "Examples:\n";
  for (const Example& each : examples) footer += fmt::format("  {}\n      {}\n", each.line, each.what);
  command.footer(footer + "\n" + std::string(exit_codes));
}

HelpFormatter::HelpFormatter() { column_width(help_column); }

/// What it takes; which options exclude each other is said where both are given.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  return (option->get_type_size() > 0 ? " " + option->get_type_name() : "") +
         (option->get_expected_max() > 1 ? " ..." : "");
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::ostringstream line;
  CLI::detail::format_help(line, command->get_name(), in_help_column(command->get_description()), help_column);
  return line.str();
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return in_help_column(option->get_description());
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
      troff(page_name(command)), library_version(), troff(page_name(command)), troff(command.get_description()),
      troff(typed_name(command)), synopsis, troff(command.get_description()));
  append_commands(page, command);
  page += ".SH OPTIONS\n";
  append_options(page, command);
  if (const std::string examples = examples_of(command); !examples.empty()) {
    page += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", troff(examples));
  }
  page += fmt::format(".SH EXIT STATUS\n{}\n", troff(exit_codes));
  if (!is_main) page += ".SH SEE ALSO\n\\fBposenc\\fR(1)\n";
  return page;
}

std::string bash_completion(const CLI::App& app) {
  std::string branches, commands;
  for (const CLI::App* each : app.get_subcommands({})) {
    branches += completion_of(*each);
    commands += each->get_name() + " ";
  }
  return fmt::format(
      "# bash completion of posenc: written by the command itself\n"
      "_posenc() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD - 1]}}\" words=\"\"\n"
      "  case \"$([[ $COMP_CWORD -gt 1 ]] && echo \"${{COMP_WORDS[1]}}\")\" in\n"
      "{}    *) words=\"{}--help --version\" ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o default -F _posenc posenc\n",
      branches, commands);
}

}  // namespace posenc::cli
