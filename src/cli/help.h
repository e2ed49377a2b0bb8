// The text of --help, from which help2man makes the manual pages.
#pragma once

#include "cli/options.h"

#include <string>
#include <vector>

namespace posenc::cli {

/// Sets up the parser's formatter so that its versions print the same, in lines of a page's width.
/// Called before the app gets its options.
void set_help_style(CLI::App& app);

/// Lines that fit beside the names of options and subcommands.
std::string help_lines(const std::string& text);

/// The end of a help: examples, environment, exit status.
std::string help_footer(const std::vector<Subcommand::Example>& examples);

}  // namespace posenc::cli
