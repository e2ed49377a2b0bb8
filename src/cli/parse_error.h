// What is wrong with a command line that the parser refuses, worded as all errors of the command.
// It is read from the parser's options: the wording of its exceptions depends on its version.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace posenc::cli {

/// One line that names an argument at fault and what is allowed in its place. `arguments` are those
/// after the program's name, and `app` has refused them.
std::string parse_error(const CLI::App& app, const std::vector<std::string>& arguments);

/// The same for an argument that nothing takes.
std::string unknown_argument(const CLI::App& app, const std::string& argument);

}  // namespace posenc::cli
