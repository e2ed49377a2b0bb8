// What the options of a command say of themselves, as --help, as a manual page and as shell
// completion: one source.
#pragma once

#include "cli/subcommand.h"

#include <CLI/App.hpp>
#include <CLI/FormatterFwd.hpp>
#include <string>

namespace posenc::cli {

/// The whole text of --help: that of the parser's own formatter depends on its version.
class HelpFormatter : public CLI::FormatterBase {
 private:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

/// In troff's man macros (man 7 man): posenc(1), or posenc-accuracy(1) of a subcommand.
std::string manual_page(const CLI::App& command);

/// For bash: subcommands, options, names of files, and the values of options that name something.
std::string bash_completion(const CLI::App& app);

}  // namespace posenc::cli
