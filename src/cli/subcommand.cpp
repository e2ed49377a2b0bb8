#include "cli/subcommand.h"

#include <CLI/App.hpp>

#include <utility>

namespace posenc::cli {

CLI::App& add_subcommand(CLI::App& app, const std::string& name, const std::string& description,
                         Action& action, Action chosen) {
  CLI::App& command = *app.add_subcommand(name, help_lines(description))->group("Subcommands");
  command.get_help_ptr()->group("Options");
  command.callback([&action, chosen = std::move(chosen)] { action = chosen; });
  return command;
}

void add_flag(CLI::App& command, bool& value, const std::string& option,
              const std::string& description) {
  command.add_flag(option, value, description);
}

void add_text_option(CLI::App& command, std::string& value, const std::string& option,
                     const std::string& value_name, const std::string& description) {
  command.add_option(option, value, description)->type_name(value_name);
}

void add_file_argument(CLI::App& command, std::string& value, const std::string& name,
                       const std::string& description) {
  command.add_option(name, value, description)->type_name("FILE")->required();
}

void exclude(CLI::App& command, const std::string& option, const std::vector<std::string>& others) {
  for (const std::string& each : others) command.get_option(option)->excludes(each);
}

}  // namespace posenc::cli
