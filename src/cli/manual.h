// What the options of a command say of themselves, as --help, as a manual page and as shell completion: one source.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace posenc::cli {

struct Example {
  std::string line;  ///< as typed
  std::string what;
};

/// Gives the command its examples, which --help and the manual page show, and the exit codes.
void describe(CLI::App& command, const std::vector<Example>& examples);

/// Descriptions broken into lines of a page.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

 private:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

/// In troff's man macros (man 7 man): posenc(1), or posenc-accuracy(1) of a subcommand.
std::string manual_page(const CLI::App& command);

/// For bash: subcommands, options, and the values of those that name something.
std::string bash_completion(const CLI::App& app);

}  // namespace posenc::cli
