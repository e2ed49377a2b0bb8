#include "cli/completion.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/spelling.h"

#include "posenc/data_type.h"
#include "posenc/registry.h"
#include "posenc/support/frequency_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <set>
#include <sstream>

namespace posenc::cli {
namespace {

using Names = std::set<std::string>;

template <class Values>
Names names_of(const Values& values) {
  Names names;
  for (const auto& each : values) names.emplace(to_string(each));
  return names;
}

Names isas() {
  Names names;
  for (const Backend* each : backends()) names.emplace(to_string(each->isa()));
  return names;
}

/// Those that the description begins with: "table, json (default: table)".
Names formats(const std::string& description) {
  Names names;
  std::istringstream words(description.substr(0, description.find(" (")));
  for (std::string word; std::getline(words >> std::ws, word, ',');) names.insert(word);
  return names;
}

/// The values of an option that names something; empty: a number, a file, or no value at all.
Names values_of(const CLI::Option& option) {
  const std::string& name = option.get_lnames().front();
  const auto set_of = [](const std::vector<std::string>& names) {
    return Names(names.begin(), names.end());
  };
  if (name == "preset") return set_of(known_presets());
  if (name == "backend") return set_of(known_backends());
  if (name == "isa") return isas();
  if (name == "dtype") return names_of(all_data_types);
  if (name == "layout") return names_of(all_layouts);
  if (name == "spacing") return names_of(all_spacings);
  if (name == "frequencies") return set_of({rule_names.begin(), rule_names.end()});
  if (name == "format") return formats(option.get_description());
  return {};
}

/// What is offered after this option; nothing for one without a value.
std::string case_of(const CLI::Option& option) {
  const std::string name = "--" + option.get_lnames().front();
  if (option.get_expected_max() == 0) return "";
  if (option.get_type_name() == "FILE") return fmt::format("        {}) kind=files ;;\n", name);
  const Names values = values_of(option);
  if (values.empty()) return fmt::format("        {}) kind=other ;;\n", name);
  return fmt::format("        {}) kind=words words=\"{}\" ;;\n", name, fmt::join(values, " "));
}

/// One branch of a case: what the command takes.
std::string branch_of(const CLI::App& command) {
  std::vector<std::string> names;
  std::string cases;
  bool takes_files = false;
  for (const CLI::Option* each : command.get_options()) {
    if (each->get_positional() && each->get_type_name() == "FILE") takes_files = true;
    if (each->get_group().empty() || each->get_lnames().empty()) continue;
    names.push_back("--" + each->get_lnames().front());
    cases += case_of(*each);
  }
  return fmt::format(
      "    {})\n"
      "      words=\"{}\"\n"
      "{}"
      "      case \"$option\" in\n"
      "{}"
      "      esac ;;\n",
      command.get_name(), fmt::join(names, " "),
      takes_files ? "      [[ $current == -* ]] || kind=files\n" : "", cases);
}

// Bash also splits words at = and :, and replaces only the part after the last of them. The parts
// are joined first, and the word's prefix is removed from each suggestion at the end.
constexpr std::string_view begin_of_script =
    R"(# bash completion of posenc: written by the command itself
_posenc() {
  local -a typed=()
  local i part glue="" last=0
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    part=${COMP_WORDS[i]}
    if [[ $i -gt 0 && ( -n $glue || $part =~ ^[=:]+$ ) ]]; then
      typed[last]+=$part
    else
      last=${#typed[@]}
      typed[last]=$part
    fi
    glue=""
    [[ $part =~ ^[=:]+$ ]] && glue=yes
  done
  local current=${typed[last]} command="" option="" lead="" words="" kind=words
  [[ $last -gt 1 ]] && command=${typed[1]}
  local value=$current
  if [[ $current == --*=* ]]; then
    option=${current%%=*} lead=${current%%=*}= value=${current#*=}
  elif [[ $last -gt 1 && ${typed[last - 1]} == --* ]]; then
    option=${typed[last - 1]}
  fi
  case "$command" in
)";

constexpr std::string_view end_of_script = R"(  esac
  local replaced=${COMP_WORDS[COMP_CWORD]}
  [[ $replaced =~ ^[=:]+$ ]] && replaced=""
  local kept=${current%"$replaced"} each
  COMPREPLY=()
  while IFS= read -r each; do
    each=$lead$each
    COMPREPLY+=("${each#"$kept"}")
  done < <(
    case $kind in
      words) compgen -W "$words" -- "$value" ;;
      files) compgen -f -- "$value" ;;
    esac
  )
  [[ $kind != files ]] || compopt -o filenames 2>/dev/null
}
complete -F _posenc posenc
)";

std::string bash_completion(const CLI::App& app) {
  std::string branches, commands;
  for (const CLI::App* each : app.get_subcommands({})) {
    branches += branch_of(*each);
    commands += each->get_name() + " ";
  }
  return fmt::format("{}{}    *) words=\"{}--help --version\" ;;\n{}", begin_of_script, branches,
                     commands, end_of_script);
}

}  // namespace

void add_completion_option(CLI::App& app, Action& action) {
  const auto take = [&app, &action](const std::string& shell) {
    if (shell != "bash") {
      throw InvalidArgument(fmt::format("--completion is '{}'; allowed: bash", shell));
    }
    action = [&app] {
      write_all("", bash_completion(app));
      return good;
    };
  };
  app.add_option_function<std::string>("--completion", take)->group("");
}

}  // namespace posenc::cli
