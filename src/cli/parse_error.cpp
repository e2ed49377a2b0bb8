#include "cli/parse_error.h"

#include "cli/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <utility>

namespace posenc::cli {
namespace {

using Words = std::vector<std::string>;

/// By the parser's rule: "-5" is a value.
bool is_option_like(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

std::string typed_name(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(true) : option.get_name(false, false);
}

/// "--rows N"
std::string usage_of(const CLI::Option& option) {
  return fmt::format("{} {}", typed_name(option), option.get_type_name());
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

Words subcommands_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* each : app.get_subcommands({})) names.push_back(each->get_name());
  return names;
}

Words options_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* each : app.get_options()) {
    const bool is_shown = !each->get_lnames().empty() && !each->get_group().empty();
    if (is_shown) names.push_back("--" + each->get_lnames().front());
  }
  return names;
}

/// Reads the words of one command as the parser does, up to the first fault.
class Walk {
 public:
  Walk(const CLI::App& app, Words words) : app_(app), words_(std::move(words)) {
    for (const CLI::Option* each : app_.get_options()) {
      if (each->get_positional()) positionals_.push_back(each);
    }
  }

  /// Empty if no fault is found.
  std::string fault() {
    while (next_ < words_.size()) {
      const std::string word = words_[next_++];
      const std::string found = is_option_like(word) ? take_option(word) : take_positional(word);
      if (!found.empty()) return found;
    }
    return missing_or_excluded();
  }

 private:
  std::string take_option(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const CLI::Option* const option = app_.get_option_no_throw(name);
    if (option == nullptr) return app_.get_allow_extras() ? "" : unknown_argument(app_, name);
    const bool has_value = equals != std::string::npos;
    if (!takes_value(*option)) {
      ++times_[option];
      return has_value ? fmt::format("{} is '{}'; allowed: no value", name, word.substr(equals + 1))
                       : "";
    }
    if (!has_value && next_ == words_.size()) {
      return fmt::format("{} has no value; allowed: {}", name, usage_of(*option));
    }
    if (!has_value) ++next_;
    if (++times_[option] > option->get_expected_max()) {
      return fmt::format("{} is given {} times; allowed: once", name, times_[option]);
    }
    const bool takes_more = option->get_expected_max() > 1 && option->get_allow_extra_args();
    while (takes_more && next_ < words_.size() && !is_option_like(words_[next_])) ++next_;
    return "";
  }

  std::string take_positional(const std::string& word) {
    if (positionals_taken_ == positionals_.size()) {
      return app_.get_allow_extras() ? "" : unknown_argument(app_, word);
    }
    ++times_[positionals_[positionals_taken_++]];
    return "";
  }

  std::string missing_or_excluded() const {
    for (const CLI::Option* each : app_.get_options()) {
      const bool is_given = times_.count(each) > 0;
      if (each->get_required() && !is_given) {
        return fmt::format("{} is missing; allowed: {}", usage_of(*each), each->get_description());
      }
      for (const CLI::Option* other : each->get_excludes()) {
        if (is_given && times_.count(other) > 0) {
          return fmt::format("{} is given with {}; allowed: one of them", typed_name(*each),
                             typed_name(*other));
        }
      }
      for (const CLI::Option* other : each->get_needs()) {
        if (is_given && times_.count(other) == 0) {
          return fmt::format("{} is given without {}; allowed: both", typed_name(*each),
                             typed_name(*other));
        }
      }
    }
    return "";
  }

  const CLI::App& app_;
  Words words_;
  std::vector<const CLI::Option*> positionals_;
  std::size_t next_ = 0;
  std::size_t positionals_taken_ = 0;
  std::map<const CLI::Option*, int> times_;
};

}  // namespace

std::string unknown_argument(const CLI::App& app, const std::string& argument) {
  const Words subcommands = subcommands_of(app);
  const bool is_subcommand = !subcommands.empty() && !is_option_like(argument);
  const Words allowed = is_subcommand ? subcommands : options_of(app);
  return fmt::format("{} is '{}'; allowed: {}{}", is_subcommand ? "subcommand" : "argument",
                     argument, fmt::join(allowed, ", "), did_you_mean(argument, allowed));
}

std::string missing_subcommand(const CLI::App& app) {
  return fmt::format("subcommand is missing; allowed: {}", fmt::join(subcommands_of(app), ", "));
}

std::string parse_error(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  Words words = arguments;
  const Words names = subcommands_of(app);
  const auto named = std::ranges::find_first_of(words, names);
  if (named != words.end()) {
    command = app.get_subcommand(*named);
    Words before(words.begin(), named);
    if (std::string fault = Walk(app, std::move(before)).fault(); !fault.empty()) return fault;
    words.erase(words.begin(), named + 1);
  }
  const std::string fault = Walk(*command, std::move(words)).fault();
  if (!fault.empty()) return fault;
  return fmt::format("arguments are '{}'; allowed: see {} --help", fmt::join(arguments, " "),
                     app.get_name());
}

}  // namespace posenc::cli
