#include "cli/parse_error.h"

#include "cli/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

namespace posenc::cli {
namespace {

constexpr auto name_of = [](const auto* each) { return each->get_name(); };

/// "--rows" of "--rows=3".
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word;
}

std::string fault_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  const int given = static_cast<int>(option.count()), most = option.get_items_expected_max();
  if (given == 0 && option.get_required())
    return fmt::format("{} {} is missing; allowed: {}", name, option.get_type_name(),
                       option.get_description());
  if (given == 0) return "";
  if (most == 0 && option.results().back() != "true")
    return fmt::format("{} is '{}'; allowed: no value", name, option.results().back());
  if (most > 0 && given > most)
    return fmt::format("{} is given {} times; allowed: once", name, given);
  for (const CLI::Option* other : option.get_excludes()) {
    if (other->count() > 0)
      return fmt::format("{} is given with {}; allowed: one of them", name, other->get_name());
  }
  for (const CLI::Option* other : option.get_needs()) {
    if (other->count() == 0)
      return fmt::format("{} is given without {}; allowed: both", name, other->get_name());
  }
  return "";
}

std::string fault_of(const CLI::App& command, const std::string& last_word) {
  if (!command.get_allow_extras()) {
    for (const std::string& word : command.remaining()) {
      if (word != "--") return unknown_argument(command, option_name(word));
    }
  }
  // The parser forgets an option whose value is missing.
  const CLI::Option* last = command.get_option_no_throw(option_name(last_word));
  if (last != nullptr && last->nonpositional() && last->get_items_expected_min() > 0)
    return fmt::format("{0} has no value; allowed: {0} {1}", last->get_name(),
                       last->get_type_name());
  for (const CLI::Option* option : command.get_options()) {
    if (std::string fault = fault_of(*option); !fault.empty()) return fault;
  }
  return "";
}

}  // namespace

std::string unknown_argument(const CLI::App& app, const std::string& argument) {
  const auto is_shown = [](const CLI::Option* each) {
    return each->nonpositional() && !each->get_group().empty();
  };
  const auto subcommands = app.get_subcommands({});
  const bool is_subcommand = !subcommands.empty() && !argument.starts_with('-');
  const auto allowed =
      is_subcommand ? names_of(subcommands, name_of) : names_of(app.get_options(is_shown), name_of);
  return fmt::format("{} is '{}'; allowed: {}{}", is_subcommand ? "subcommand" : "argument",
                     argument, fmt::join(allowed, ", "), did_you_mean(argument, allowed));
}

std::string parse_error(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::string last_word = arguments.empty() ? "" : arguments.back();
  if (std::string fault = fault_of(app, last_word); !fault.empty()) return fault;
  for (const CLI::App* chosen : app.get_subcommands()) {
    if (std::string fault = fault_of(*chosen, last_word); !fault.empty()) return fault;
  }
  if (app.get_require_subcommand_min() > 0 && app.get_subcommands().empty())
    return fmt::format("subcommand is missing; allowed: {}",
                       fmt::join(names_of(app.get_subcommands({}), name_of), ", "));
  return fmt::format("arguments are '{}'; allowed: see {} --help", fmt::join(arguments, " "),
                     app.get_name());
}

}  // namespace posenc::cli
