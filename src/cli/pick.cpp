// posenc pick: checks and times all candidates, prints the table, saves the profile.
#include "posenc/pick.h"

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

namespace posenc::cli {
namespace {

/// Shapes of every size that real systems use, from the first-level cache to memory.
const std::vector<std::string> default_presets = {"chunk",   "stable_diffusion", "marian",       "tutorial",
                                                  "m2m_100", "whisper",          "long_context", "wide"};

/// Spread of a picked backend's samples above which its figures are not to be trusted.
constexpr double noisy = 0.15;

struct PickCommand {
  CommonOptions common;
  std::optional<double> max_error;
  bool dry_run = false;
};

PickOptions options_of(const PickCommand& command) {
  PickOptions options;
  options.max_error = command.max_error.value_or(options.max_error);
  options.type = command.common.type;
  options.threads = command.common.threads.value_or(options.threads);
  std::set<std::string_view> seen;
  for (const std::string& name : command.common.presets.empty() ? default_presets : command.common.presets) {
    if (seen.insert(name).second) options.presets.push_back(preset(name));
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

double gfloats_per_second(const PickMeasurement& measured) {
  const double entries =
      static_cast<double>(measured.preset.rows.count) * static_cast<double>(measured.preset.spec.d_model);
  return entries / measured.median_seconds / 1e9;
}

std::string verdict(const PickMeasurement& measured) {
  if (!(measured.max_abs <= measured.error_bound)) return "wrong: breaks its error bound";
  if (!measured.within_budget) return "over the error budget";
  if (measured.picked) return measured.tied ? "picked (tie)" : "picked";
  return measured.tied ? "tie" : "";
}

/// By shape class, then by size of the table; within a table the fastest first, and last what was not timed.
std::vector<const PickMeasurement*> in_order(const PickResult& result) {
  std::vector<const PickMeasurement*> order;
  for (const PickMeasurement& each : result.measurements) order.push_back(&each);
  std::ranges::stable_sort(order, {}, [](const PickMeasurement* each) {
    const std::int64_t entries = each->preset.rows.count * each->preset.spec.d_model;
    return std::tuple(each->shape, entries, each->preset.name, each->seconds.empty(), each->median_seconds);
  });
  return order;
}

std::string measurements_text(const PickResult& result) {
  Table table({{"class", Align::left},
               {"shape", Align::left},
               {"rows x d", Align::right},
               {"backend", Align::left},
               {"max |error|"},
               {"time a table"},
               {"spread"},
               {"Gfloat/s"},
               {"", Align::left}});
  const PickMeasurement* last = nullptr;
  for (const PickMeasurement* each : in_order(result)) {
    const bool is_first = last == nullptr || last->preset.name != each->preset.name;
    if (is_first && last != nullptr) table.add_gap();
    last = each;
    const bool is_timed = !each->seconds.empty();
    table.add_row({is_first ? std::string(to_string(each->shape)) : "", is_first ? std::string(each->preset.name) : "",
                   is_first ? shape_text(each->preset.spec, each->preset.rows) : "",
                   marked_name(each->backend->full_name(), each->backend->name(), each->backend->isa()),
                   error_text(each->max_abs), is_timed ? seconds_text(each->median_seconds) : "-",
                   is_timed ? fmt::format("± {:.1f} %", 100 * each->spread) : "",
                   is_timed ? fmt::format("{:.2f}", gfloats_per_second(*each)) : "-", verdict(*each)});
  }
  return with_mark_explained(table.text());
}

std::string picks_text(const PickResult& result) {
  Table table(
      {{"class", Align::left}, {"picked", Align::left}, {"Gfloat/s"}, {"max |error|"}, {"tied with", Align::left}});
  for (const ProfilePick& each : result.profile.picks) {
    table.add_row({std::string(to_string(each.shape)), fmt::format("{}:{}", each.backend, to_string(each.isa)),
                   fmt::format("{:.2f}", each.gfloats_per_second), error_text(each.max_abs),
                   fmt::format("{}", fmt::join(each.ties, ", "))});
  }
  return table.text();
}

/// A word of warning where the figures mean little.
std::string noise_text(const PickResult& result) {
  double worst = 0;
  for (const ProfilePick& each : result.profile.picks) worst = std::max(worst, each.spread);
  if (worst <= noisy) return "";
  return fmt::format("The machine is noisy (spread up to {:.0f} %): pick again when it is idle\n", 100 * worst);
}

std::string table_text(const PickResult& result, const PickOptions& options) {
  return fmt::format(
      "{}\n{}, {} {}, error budget {:g}; medians of {} interleaved repetitions, spread: half the interquartile "
      "range\n\n{}\n{}",
      cpu().model, to_string(options.type), options.threads, options.threads == 1 ? "thread" : "threads",
      options.max_error, options.repetitions, measurements_text(result),
      result.profile.picks.empty() ? "" : picks_text(result) + noise_text(result) + "\n");
}

Json entry_of(const PickMeasurement& measured) {
  Json entry = {{"backend", measured.backend->name()},
                {"isa", to_string(measured.backend->isa())},
                {"preset", measured.preset.name},
                {"shape_class", to_string(measured.shape)},
                {"spec", to_json(measured.preset.spec)},
                {"rows", to_json(measured.preset.rows)},
                {"max_abs", measured.max_abs},
                {"error_bound", measured.error_bound},
                {"within_budget", measured.within_budget},
                {"seconds", measured.seconds},
                {"can_be_picked", measured.backend->can_be_picked()},
                {"picked", measured.picked},
                {"tied", measured.tied}};
  if (!measured.seconds.empty()) {
    entry["median_seconds"] = measured.median_seconds;
    entry["spread"] = measured.spread;
    entry["gfloats_per_second"] = gfloats_per_second(measured);
  }
  return entry;
}

Json entry_of(const ProfilePick& pick) {
  return {{"shape_class", to_string(pick.shape)},
          {"dtype", to_string(pick.type)},
          {"threads", pick.threads},
          {"backend", pick.backend},
          {"isa", to_string(pick.isa)},
          {"ties", pick.ties},
          {"gfloats_per_second", pick.gfloats_per_second},
          {"spread", pick.spread},
          {"max_abs", pick.max_abs},
          {"shapes", pick.shapes}};
}

std::string json_text(const PickResult& result, const PickOptions& options, const std::filesystem::path& saved) {
  Json document = new_document();
  document["dtype"] = to_string(options.type);
  document["threads"] = options.threads;
  document["max_error"] = options.max_error;
  document["measurements"] = Json::array();
  for (const PickMeasurement* each : in_order(result)) document["measurements"].push_back(entry_of(*each));
  document["picks"] = Json::array();
  for (const ProfilePick& each : result.profile.picks) document["picks"].push_back(entry_of(each));
  document["profile"] = saved.empty() ? Json() : Json(saved.string());
  return text_of(document);
}

/// Adds the picks to those of a valid profile that is there. Returns a line that says what was done.
std::string save(const Profile& picks, const std::filesystem::path& file) {
  const LoadedProfile older = std::filesystem::is_regular_file(file) ? load_profile(file) : LoadedProfile{};
  const Profile merged = older.profile ? merge(*older.profile, picks) : picks;
  save_profile(merged, file);
  const std::size_t kept = merged.picks.size() - picks.picks.size();
  std::string line = fmt::format("Profile saved: {}", file.string());
  if (kept > 0) line += fmt::format(" ({} earlier {} kept)", kept, kept == 1 ? "pick" : "picks");
  if (!older.profile && !older.reason.empty())
    line += fmt::format("\nIt replaces one that was of no use: {}", older.reason);
  return line + "\n";
}

/// A line for every shape class that was timed and has no pick.
std::string missing_text(const PickResult& result, const PickOptions& options) {
  std::set<ShapeClass> missing;
  for (const PickMeasurement& each : result.measurements) missing.insert(each.shape);
  for (const ProfilePick& each : result.profile.picks) missing.erase(each.shape);
  std::string text;
  for (const ShapeClass shape : missing) {
    text += fmt::format("posenc: no backend is within the error budget {:g} on all shapes of class {}\n",
                        options.max_error, to_string(shape));
  }
  return text;
}

int run_pick(const PickCommand& command) {
  const PickOptions checked = options_of(command);
  const std::filesystem::path file = profile_file(command);
  if (!file.empty()) check_writable(file, Folders::are_made);

  PickOptions options = checked;
  PickResult result;
  {
    Progress progress;
    options.progress = [&](double share, std::string_view doing) { progress(share, doing); };
    result = pick(options);
  }
  const bool is_saved = !file.empty() && !result.profile.picks.empty();
  const std::string saved = is_saved          ? save(result.profile, file)
                            : command.dry_run ? "Dry run: no profile saved\n"
                                              : "No profile saved\n";
  const bool is_json = command.common.format == "json";
  write_all("", is_json ? json_text(result, options, is_saved ? file : std::filesystem::path())
                        : table_text(result, options) + saved);

  const std::string missing = missing_text(result, options);
  fmt::print(stderr, "{}", missing);
  return missing.empty() ? good : check_failed;
}

}  // namespace

void add_pick_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PickCommand>();
  CLI::App& command = *app.add_subcommand(
      "pick", "Check and time all candidates, and save the fastest within the error budget as this CPU's profile");
  add_real_option(command, options->max_error, "--max-error",
                  "error budget: the largest |error| accepted (default: 1e-6)");
  add_preset_option(command, options->common, Times::often);
  add_type_option(command, options->common);
  add_threads_option(command, options->common, "1");
  command.add_flag("--dry-run", options->dry_run, "save no profile");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common,
                    "profile to write (default: $POSENC_PROFILE, else $XDG_CONFIG_HOME/posenc/profile.json, else "
                    "~/.config/posenc/profile.json)");
  command.callback([options, &action] { action = [options] { return run_pick(*options); }; });
}

}  // namespace posenc::cli
