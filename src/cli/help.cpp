#include "cli/help.h"

#include "cli/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace posenc::cli {
namespace {

/// help2man takes a name and its description apart if the description begins here or further right.
constexpr std::size_t help_column = 24;

struct Entry {
  std::string name;
  std::string description;
};

const std::vector<Entry> environment_entries = {
    {"POSENC_BACKEND",
     "for experiments: the backend, or backend:isa, that the library uses if a program names none"},
    {"POSENC_PROFILE", "the profile to use instead of the file below"},
    {"XDG_CONFIG_HOME", "folder of the user's settings (default: .config in HOME)"},
    {"HOME", "folder of the user"}};

const std::vector<Entry> file_entries = {
    {"$XDG_CONFIG_HOME/posenc/profile.json",
     "the profile: what posenc pick --save measured on this CPU, and the library selects by"}};

const std::vector<Entry> exit_status = {
    {"0", "success"}, {"1", "a check failed"}, {"2", "bad input, or failed input or output"}};

std::string lines_of(std::string_view text, std::size_t width, std::string_view indent = "") {
  return fmt::format("{}", fmt::join(broken(text, width), fmt::format("\n{}", indent)));
}

/// The name, and its description from help_column on.
std::string entry_text(const Entry& entry) {
  const std::string indent(help_column, ' ');
  const std::string name = "  " + entry.name;
  const bool fits = name.size() + 2 <= help_column;
  return name + (fits ? indent.substr(name.size()) : "\n" + indent) +
         lines_of(entry.description, page_width - help_column, indent) + "\n";
}

std::string section_text(std::string_view title, const std::vector<Entry>& entries) {
  if (entries.empty()) return "";
  std::string text = fmt::format("\n{}:\n", title);
  for (const Entry& each : entries) text += entry_text(each);
  return text;
}

/// "--preset NAME ...", "--save [FILE]"
Entry entry_of(const CLI::Option& option) {
  std::string names = option.get_name(option.get_positional(), true);
  if (const std::size_t comma = names.find(','); comma != std::string::npos) {
    names.insert(comma + 1, " ");
  }
  if (option.get_type_size() > 0 && option.get_expected_max() > 0) {
    const std::string value = option.get_type_name();
    names += option.get_expected_min() == 0 ? fmt::format(" [{}]", value) : " " + value;
  }
  if (option.get_expected_max() > 1) names += " ...";
  return {names, option.get_description()};
}

std::vector<Entry> entries_of(const CLI::App& app, bool positional) {
  std::vector<Entry> entries;
  for (const CLI::Option* each : app.get_options()) {
    const bool is_hidden = each->get_group().empty();
    if (!is_hidden && each->get_positional() == positional) entries.push_back(entry_of(*each));
  }
  return entries;
}

std::string usage_of(const CLI::App& app, const std::string& name) {
  std::string usage = fmt::format("Usage: {} [OPTIONS]", name);
  for (const CLI::Option* each : app.get_options()) {
    if (each->get_positional()) usage += " " + each->get_name(true);
  }
  return usage + (app.get_subcommands({}).empty() ? "" : " [SUBCOMMAND]");
}

std::string subcommands_text(const CLI::App& app) {
  std::vector<Entry> entries;
  for (const CLI::App* each : app.get_subcommands({})) {
    entries.push_back({each->get_name(), each->get_description()});
  }
  return section_text("Subcommands", entries);
}

}  // namespace

void describe(CLI::App& command, const std::vector<Example>& examples) {
  std::vector<Entry> entries;
  for (const Example& each : examples) entries.push_back({each.line, each.what});
  command.footer(section_text("Examples", entries) +
                 section_text("Environment", environment_entries) +
                 section_text("Files", file_entries) + section_text("Exit status", exit_status));
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode /*mode*/) const {
  return fmt::format("{}\n{}\n{}{}{}{}", lines_of(app->get_description(), page_width),
                     usage_of(*app, name), subcommands_text(*app),
                     section_text("Positionals", entries_of(*app, true)),
                     section_text("Options", entries_of(*app, false)), app->get_footer());
}

}  // namespace posenc::cli
