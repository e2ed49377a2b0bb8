// The text of --help. help2man makes the manual pages from it, and so relies on its headings and on
// the column of the descriptions.
#pragma once

namespace CLI {
class App;
}

namespace posenc::cli {

/// Sets up the parser's formatter so that its versions print the same, in lines of a page's width.
/// Called before the app gets its options and subcommands.
void set_help_style(CLI::App& app);

}  // namespace posenc::cli
