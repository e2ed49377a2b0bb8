// posenc pick: checks and times all candidates, prints the table, saves the profile; or decides from results of others.
#include "posenc/pick.h"

#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pick_run.h"
#include "cli/pick_text.h"
#include "cli/progress.h"

#include "posenc/cpu.h"
#include "posenc/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

namespace posenc::cli {
namespace {

/// Shapes of every size that real systems use, from the first-level cache to memory.
const std::vector<std::string> default_presets = {"chunk",   "stable_diffusion", "marian",       "tutorial",
                                                  "m2m_100", "whisper",          "long_context", "wide"};

struct PickCommand {
  CommonOptions common;
  std::optional<double> max_error;
  std::optional<double> max_ulp;
  std::vector<std::string> from;
  bool dry_run = false;
  bool explain = false;
};

std::optional<ErrorBudget> budget_of(const PickCommand& command) {
  if (command.max_ulp) return ErrorBudget{*command.max_ulp, ErrorBudget::Measure::ulp};
  if (command.max_error) return ErrorBudget{*command.max_error, ErrorBudget::Measure::absolute};
  return {};
}

PickOptions options_of(const PickCommand& command) {
  PickOptions options;
  options.budget = budget_of(command).value_or(ErrorBudget{});
  options.type = command.common.type;
  options.threads = command.common.threads.value_or(options.threads);
  std::set<std::string_view> seen;
  for (const std::string& name : command.common.presets.empty() ? default_presets : command.common.presets) {
    if (seen.insert(name).second) options.presets.push_back(preset_or_benchmark_shape(name));
  }
  return options;
}

/// Where the profile goes; empty on a dry run.
std::filesystem::path profile_file(const PickCommand& command) {
  if (command.dry_run) return {};
  std::filesystem::path file =
      command.common.output.empty() ? default_profile_path() : std::filesystem::path(command.common.output);
  if (file.empty()) {
    throw InvalidArgument(
        "--output is not given, and none of POSENC_PROFILE, XDG_CONFIG_HOME and HOME is set; allowed: one of them");
  }
  return file;
}

/// Adds the picks to those of a valid profile that is there. Returns a line that says what was done.
std::string save(const Profile& picks, const std::filesystem::path& file) {
  const LoadedProfile older = std::filesystem::is_regular_file(file) ? load_profile(file) : LoadedProfile{};
  const Profile merged = older.profile ? merge(*older.profile, picks) : picks;
  {
    const Uninterrupted whole;
    save_profile(merged, file);
  }
  const std::size_t kept = merged.picks.size() - picks.picks.size();
  std::string line = fmt::format("Profile saved: {}", file.string());
  if (kept > 0) line += fmt::format(" ({} earlier {} kept)", kept, kept == 1 ? "pick" : "picks");
  if (!older.profile && !older.reason.empty())
    line += fmt::format("\nIt replaces one that was of no use: {}", older.reason);
  return line + "\n";
}

/// A line on standard error for every shape class that has no pick; the exit code.
int check_picked(const std::vector<PickRun>& runs) {
  int code = good;
  for (const PickRun& run : runs) {
    for (const ShapeDecision& each : run.decisions) {
      if (each.pick) continue;
      fmt::print(stderr, "posenc: no backend is within the error budget {} on all shapes of class {}\n",
                 budget_text(run.budget), to_string(each.shape));
      code = check_failed;
    }
  }
  return code;
}

PickRun measure(PickOptions options, Profile& profile) {
  Progress progress;
  options.progress = [&](double share, std::string_view doing) { progress(share, doing); };
  PickResult result = pick(options);
  profile = std::move(result.profile);
  return {.cpu = profile.cpu_model,
          .isas = profile.cpu_features,
          .type = options.type,
          .threads = options.threads,
          .budget = options.budget,
          .measurements = std::move(result.measurements),
          .decisions = std::move(result.decisions),
          .files = {}};
}

int run_here(const PickCommand& command) {
  const PickOptions options = options_of(command);
  const std::filesystem::path file = profile_file(command);
  if (!file.empty()) check_writable(file, Folders::are_made);

  Profile profile;
  const PickRun run = measure(options, profile);
  const bool is_saved = !file.empty() && !profile.picks.empty();
  const std::string saved = is_saved          ? save(profile, file)
                            : command.dry_run ? "Dry run: no profile saved\n"
                                              : "No profile saved\n";
  if (command.common.format == "json") {
    Json document = new_document();
    document.update(to_json(run));
    document["profile"] = is_saved ? Json(file.string()) : Json();
    write_all("", text_of(document));
  } else {
    write_page("", run_text(run) + (command.explain ? explanation_text(run) : "") + "\n" + saved);
  }
  return check_picked({run});
}

int run_from(const PickCommand& command) {
  const std::vector<PickRun> runs = read_runs(command.from, budget_of(command));
  if (command.common.format == "json") {
    Json document = new_document();
    document["runs"] = Json::array();
    for (const PickRun& each : runs) document["runs"].push_back(to_json(each));
    write_all("", text_of(document));
  } else {
    std::string text;
    for (const PickRun& each : runs) {
      if (!text.empty()) text += "\n\n";
      text += run_text(each) + (command.explain ? explanation_text(each) : "") +
              fmt::format("\nMeasured elsewhere: {}\n", fmt::join(each.files, ", "));
    }
    write_page("", text);
  }
  return check_picked(runs);
}

}  // namespace

void add_pick_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PickCommand>();
  CLI::App& command = *app.add_subcommand(
      "pick", "Check and time all candidates, and save the fastest within the error budget as this CPU's profile");
  add_real_option(command, options->max_error, "--max-error",
                  "error budget: the largest |error| accepted (default: 1e-6)");
  add_real_option(command, options->max_ulp, "--max-ulp",
                  "error budget in ulp, of the measured error, instead of --max-error")
      ->excludes("--max-error");
  add_preset_option(command, options->common, Times::often);
  add_type_option(command, options->common);
  add_threads_option(command, options->common, "1");
  command.add_flag("--explain", options->explain, "say in words why, per shape class");
  CLI::Option* dry_run = command.add_flag("--dry-run", options->dry_run, "save no profile");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common,
                    "profile to write (default: $POSENC_PROFILE, else $XDG_CONFIG_HOME/posenc/profile.json, else "
                    "~/.config/posenc/profile.json)");
  command
      .add_option("--from", options->from,
                  "measure nothing: decide from results of posenc pick --format json, of one or several CPUs; saves "
                  "no profile")
      ->type_name("FILE")
      ->excludes(dry_run)
      ->excludes("--preset")
      ->excludes("--dtype")
      ->excludes("--threads")
      ->excludes("--output");
  describe(command, {{"posenc pick --max-error 1e-6", "the fastest within an error of 1e-6 on this CPU"},
                     {"posenc pick --max-ulp 1 --preset whisper --explain", "within 1 ulp, for one shape, and why"},
                     {"posenc pick --dry-run --format json > here.json", "results to keep, or to take elsewhere"},
                     {"posenc pick --from here.json there.json", "the pick of each of two machines"}});
  command.callback([options, &action] {
    action = [options] { return options->from.empty() ? run_here(*options) : run_from(*options); };
  });
}

}  // namespace posenc::cli
