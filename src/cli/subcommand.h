// How a subcommand is declared. Without the parser's headers: their inline functions make every
// file that includes them many seconds slower to compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace posenc::cli {

/// What the chosen subcommand does once the whole command line is known to be good; returns an exit
/// code.
using Action = std::function<int()>;

struct Example {
  std::string line;  ///< as typed
  std::string what;
};

/// Sets up the parser's formatter so that its versions print the same, in lines of a page's width.
/// help2man makes the manual pages from that text. Called before the app gets its options.
void set_help_style(CLI::App& app);

/// Lines that fit beside the names of options and subcommands in the text of help.
std::string help_lines(const std::string& text);

/// If the subcommand is chosen, `action` becomes `chosen`.
CLI::App& add_subcommand(CLI::App& app, const std::string& name, const std::string& description,
                         Action& action, Action chosen);

/// Gives the command its examples, and what the help of every command has: environment, files, exit
/// status.
void describe(CLI::App& command, const std::vector<Example>& examples);

void add_flag(CLI::App& command, bool& value, const std::string& option,
              const std::string& description);
void add_text_option(CLI::App& command, std::string& value, const std::string& option,
                     const std::string& value_name, const std::string& description);
/// A required argument without an option.
void add_file_argument(CLI::App& command, std::string& value, const std::string& name,
                       const std::string& description);

/// Refuses a command line that has `option` and one of `others`, which must have been added.
void exclude(CLI::App& command, const std::string& option, const std::vector<std::string>& others);

}  // namespace posenc::cli
