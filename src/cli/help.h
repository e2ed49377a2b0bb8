// The text of --help. help2man makes the manual pages from it, and so relies on its headings and on
// the column of the descriptions.
#pragma once

#include "cli/subcommand.h"

#include <CLI/App.hpp>
#include <CLI/FormatterFwd.hpp>
#include <string>

namespace posenc::cli {

/// The whole text: that of the parser's own formatter differs between its versions.
class HelpFormatter : public CLI::FormatterBase {
 private:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace posenc::cli
