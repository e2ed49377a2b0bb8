// posenc pick: checks and times all backends and says which is fastest, or decides from the results
// of other runs.
#include "posenc/tuning/pick.h"

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pick_process.h"
#include "cli/pick_run.h"
#include "cli/pick_save.h"
#include "cli/pick_text.h"
#include "cli/progress.h"

#include "posenc/cpu.h"
#include "posenc/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace posenc::cli {
namespace {

/// The table of Student's t ends at twice this number.
constexpr int most_processes = 15;

struct PickCommand {
  CommonOptions common;
  std::optional<double> max_error;
  std::optional<double> max_ulp;
  std::optional<int> processes;
  std::vector<std::string> from;
  bool saves = false;
  std::string save_file;  ///< empty: where the library looks for the profile
  bool if_missing = false;
  bool force = false;
  bool explain = false;
  bool times_on_request = false;
};

std::optional<ErrorBudget> budget_of(const PickCommand& command) {
  if (command.max_ulp) return ErrorBudget{*command.max_ulp, ErrorBudget::Measure::ulp};
  if (command.max_error) return ErrorBudget{*command.max_error, ErrorBudget::Measure::absolute};
  return {};
}

PickOptions options_of(const PickCommand& command) {
  PickOptions options;
  options.budget = budget_of(command);
  options.type = command.common.type;
  options.threads = command.common.threads.value_or(options.threads);
  options.processes = command.processes.value_or(options.processes);
  options.time_in_process = time_in_new_process;
  std::set<std::string_view> seen;
  for (const std::string& name : command.common.presets) {
    if (!seen.insert(name).second) continue;
    const Preset& named = preset_or_benchmark_shape(name);
    options.shapes.push_back({std::string(named.name), named.spec, named.rows});
  }
  if (options.shapes.empty()) {
    options.shapes = default_pick_shapes(options.type);
    if (options.type == DataType::float32 && options.threads == 1)
      options.store_sizes = default_store_sizes();
  }
  return options;
}

/// A line on standard error for every backend that breaks its error bound, and for every shape
/// class that has no pick; the exit code.
int check_picked(const std::vector<PickRun>& runs) {
  int code = good;
  for (const PickRun& run : runs) {
    for (const PickMeasurement& each : run.measurements) {
      if (each.keeps_its_bound()) continue;
      fmt::print(stderr,
                 "posenc: {}:{} breaks its error bound on {}: max |error| is {:.4e}, the bound is "
                 "{:.4e}\n",
                 each.backend, to_string(each.isa), each.name, each.max_abs, each.error_bound);
      code = check_failed;
    }
    for (const ClassDecision& each : run.decisions) {
      if (each.pick) continue;
      fmt::print(stderr, "posenc: no backend is within the error budget {} on all of class {}\n",
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
          .processes = result.processes,
          .budget = result.budget,
          .disturbed = std::move(result.disturbed),
          .measurements = std::move(result.measurements),
          .decisions = std::move(result.decisions),
          .most_cached_bytes = profile.most_cached_bytes(),
          .files = {}};
}

/// Writes the JSON of a run and the path of the profile where it is kept, or null.
void write_document(const PickCommand& command, const Json& run, const Json& profile) {
  Json document = new_document();
  document.update(run);
  document["profile"] = profile;
  write_all(command.common.output, text_of(document));
}

int run_here(const PickCommand& command) {
  const PickOptions options = options_of(command);
  const std::filesystem::path file =
      command.saves ? file_to_save(command.save_file) : std::filesystem::path();
  if (!file.empty()) check_writable(file, Folders::are_made);
  if (command.if_missing && is_measured(file, options)) {
    if (command.common.format == "json") {
      write_document(command, {{"measurements", Json::array()}}, file.string());
    } else {
      write_page(
          command.common.output,
          fmt::format("Nothing to measure: {} has measurements of these sizes\n", file.string()));
    }
    return good;
  }

  Profile profile;
  const PickRun run = measure(options, profile);
  const bool is_refused = !run.disturbed.empty() && !command.force;
  const bool is_saved = !file.empty() && !is_refused && !profile.classes.empty();
  const std::string saved = is_saved ? save_measurements(profile, file)
                            : file.empty()
                                ? "Nothing saved; --save keeps the measurements for programs\n"
                                : "Nothing saved\n";
  if (command.common.format == "json") {
    write_document(command, to_json(run), is_saved ? Json(file.string()) : Json());
  } else {
    write_page(command.common.output,
               run_text(run) + (command.explain ? explanation_text(run) : "") + "\n" + saved);
  }
  const int code = check_picked({run});
  if (!is_refused) return code;
  fmt::print(stderr, "posenc: {}; nothing is saved (--force accepts the times as they are)\n",
             run.disturbed);
  return check_failed;
}

int run_from(const PickCommand& command) {
  const std::vector<PickRun> runs = read_runs(command.from, budget_of(command));
  if (command.common.format == "json") {
    Json document = new_document();
    document["runs"] = Json::array();
    for (const PickRun& each : runs) document["runs"].push_back(to_json(each));
    write_all(command.common.output, text_of(document));
  } else {
    std::string text;
    for (const PickRun& each : runs) {
      if (!text.empty()) text += "\n\n";
      text += run_text(each) + (command.explain ? explanation_text(each) : "") +
              fmt::format("\nMeasured elsewhere: {}\n", fmt::join(each.files, ", "));
    }
    write_page(command.common.output, text);
  }
  return check_picked(runs);
}

int run_pick(const PickCommand& command) {
  if (command.times_on_request) return time_on_request();
  const std::string& output = command.common.output;
  if (!is_standard_output(output)) check_writable(output, Folders::must_exist);
  return command.from.empty() ? run_here(command) : run_from(command);
}

void add_budget_options(CLI::App& command, PickCommand& options) {
  add_real_option(command, options.max_error, "--max-error", Sign::positive,
                  "error budget: the largest |error| accepted (default: 1.01 times half the "
                  "spacing of the type below 1)");
  add_real_option(command, options.max_ulp, "--max-ulp", Sign::positive,
                  "error budget in ulp of the measured error, instead of --max-error");
  exclude(command, "--max-ulp", {"--max-error"});
}

void add_save_options(CLI::App& command, PickCommand& options) {
  const auto take = [&options](const std::vector<std::string>& files) {
    options.saves = true;
    if (!files.empty()) options.save_file = files.front();
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--save", take,
          "keep the measurements as this CPU's profile, in FILE or where the library looks for it "
          "(see Files)")
      ->expected(0, 1)
      ->type_name("FILE");
  command
      .add_flag("--if-missing", options.if_missing,
                "with --save: measure only if the profile lacks tables of these sizes")
      ->needs("--save");
  command.add_flag("--force", options.force, "accept and save the figures even if other work runs");
}

}  // namespace

void add_pick_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PickCommand>();
  CLI::App& command = add_subcommand(
      app, "pick", "Find the fastest backend within an error budget by timing all of them", action,
      [options] { return run_pick(*options); });
  add_budget_options(command, *options);
  add_preset_option(command, options->common, Times::often);
  add_type_option(command, options->common);
  add_threads_option(command, options->common, "1");
  add_integer_option(command, options->processes, "--processes", 2, most_processes,
                     "number of processes to time in; up to twice as many if the figures are noisy "
                     "(default: 7)");
  add_save_options(command, *options);
  command.add_flag("--explain", options->explain, "explain each choice in words");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common);
  command
      .add_option("--from", options->from,
                  "measure nothing; decide from results of posenc pick --format json, of one or "
                  "several CPUs")
      ->type_name("FILE");
  exclude(command, "--from",
          {"--save", "--if-missing", "--processes", "--preset", "--dtype", "--threads"});
  command.add_flag(timing_option, options->times_on_request)->group("");
  describe(command, {{"posenc pick", "the fastest that is accurate to the last digit"},
                     {"posenc pick --save", "the same, saved for programs that use the library"},
                     {"posenc pick --max-error 1e-6 --preset whisper --explain",
                      "within 1e-6, for one shape, with the reasons"},
                     {"posenc pick --format json --output here.json",
                      "results to keep, or to decide from elsewhere"},
                     {"posenc pick --from here.json there.json", "the picks for two machines"}});
}

}  // namespace posenc::cli
