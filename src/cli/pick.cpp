// posenc pick: which backend is the fastest of those that promise an accuracy, by a document of
// measurements, or measured now.
#include "posenc/suite/pick.h"

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measuring.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/suite/profile.h"
#include "posenc/support/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace posenc::cli {

using namespace suite;
namespace {

/// The accuracy whose picks are shown below those of the default.
constexpr double larger_error = 1e-6;

struct PickCommand {
  MeasuringOptions measuring;
  std::string document;  ///< empty: measure now
  std::optional<double> max_error;
  std::optional<double> max_ulp;
  bool saves = false;
  std::string save_file;  ///< empty: where the library looks for the profile
  bool force = false;
};

Accuracy accuracy_of(const PickCommand& command) {
  if (command.max_ulp) return Accuracy::within_ulp(*command.max_ulp);
  if (command.max_error) return Accuracy::within(*command.max_error);
  return {};
}

/// The option that asks for the accuracy, and its value.
std::string wish_text(const Accuracy& accuracy) {
  switch (accuracy.measure()) {
    case Accuracy::Measure::correctly_rounded: break;
    case Accuracy::Measure::absolute: return fmt::format("--max-error is {}", accuracy.most());
    case Accuracy::Measure::ulp: return fmt::format("--max-ulp is {}", accuracy.most());
  }
  return "--max-error is not given: correct rounding";
}

/// Throws InvalidArgument, with the least error, unless a backend that runs here promises the
/// accuracy for each table: nothing need be measured to know that.
void check_possible(const PickCommand& command, const Accuracy& accuracy) {
  for (const MeasuredTable& table : tables_of(command.measuring)) {
    Promise least;
    bool is_promised = false;
    for (const Backend* each : backends_of(command.measuring.common)) {
      if (!each->can_be_picked() || !each->supports(table.type)) continue;
      const Promise promise = promise_of(*each->plan(table.spec), table.rows, table.type);
      is_promised |= accuracy.is_kept_by(promise);
      least.max_abs = std::min(least.max_abs, promise.max_abs);
      least.max_ulp = std::min(least.max_ulp, promise.max_ulp);
    }
    if (is_promised) continue;
    const bool is_ulp = accuracy.measure() == Accuracy::Measure::ulp;
    // All digits, so that the number that is allowed is allowed.
    throw InvalidArgument(fmt::format(
        "{}, which no backend promises for {} in {}; allowed: at least {}", wish_text(accuracy),
        table.name, to_string(table.type), is_ulp ? least.max_ulp : least.max_abs));
  }
}

std::vector<std::string> tied_with_pick(const Verdict& verdict) {
  std::vector<std::string> names;
  for (const JudgedCandidate& each : verdict.others) {
    if (each.tied) names.push_back(each.candidate.full_name());
  }
  return names;
}

/// "l2, to 1 MiB": the bytes of a table of that class.
std::string class_text(ShapeClass shape, const Cpu& machine) {
  const auto up_to = [&](std::int64_t bytes) {
    return bytes == 0 ? std::string(to_string(shape))
                      : fmt::format("{}, to {}", to_string(shape), bytes_text(bytes));
  };
  switch (shape) {
    case ShapeClass::l1: return up_to(machine.l1_bytes);
    case ShapeClass::l2: return up_to(machine.l2_bytes);
    case ShapeClass::l3: return up_to(machine.l3_bytes);
    case ShapeClass::memory: break;
  }
  return machine.l3_bytes == 0 ? "memory" : fmt::format("over {}", bytes_text(machine.l3_bytes));
}

std::string verdicts_text(const std::vector<Verdict>& verdicts, const Accuracy& accuracy,
                          const Cpu& machine) {
  Table table({{"table", Align::left},
               {"picked", Align::left},
               {"Gfloat/s"},
               {"bound"},
               {"next", Align::left},
               {"ratio"},
               {"tied with", Align::wrapped}});
  std::string heading;
  for (const Verdict& each : verdicts) {
    const MeasuredClass& measured = each.measured;
    const std::string tables =
        fmt::format("{}: {}, {}", to_string(accuracy), to_string(measured.type),
                    threads_text(measured.threads));
    if (std::exchange(heading, tables) != tables) table.add_heading(tables);
    const std::string shape = class_text(measured.shape, machine);
    if (!each.pick) {
      table.add_row({shape, "none", "-", "", "", "", ""});
      continue;
    }
    const Candidate& picked = each.pick->candidate;
    const JudgedCandidate* const next = each.next();
    table.add_row({shape, picked.full_name(), fmt::format("{:.2f}", picked.gfloats_per_second),
                   error_text(picked.promise.max_abs),
                   next != nullptr ? next->candidate.full_name() : "",
                   next != nullptr ? fmt::format("{:.3f}", next->ratio) : "",
                   fmt::format("{}", fmt::join(tied_with_pick(each), ", "))});
  }
  return table.text();
}

std::string page_of(const Measurements& document, const Accuracy& accuracy,
                    const std::vector<Verdict>& verdicts) {
  const std::string what = wrapped(fmt::format(
      "The fastest of those that promise an accuracy, by measurements of {}\n"
      "bound: of |error|, proven; ratio: time of the next backend over that of the pick\n"
      "tied with: backends that differ by less than one does from itself\n",
      document.measured_at));
  std::string page = fmt::format("{}\n{}\n{}", document.machine.model, what,
                                 verdicts_text(verdicts, accuracy, document.machine));
  if (accuracy == Accuracy()) {
    const Accuracy larger = Accuracy::within(larger_error);
    page += "\n" + verdicts_text(pick(document, larger), larger, document.machine);
  }
  if (!document.disturbed.empty())
    page += wrapped("\nNot to be trusted: " + document.disturbed + "\n");
  return page;
}

Json entry_of(const JudgedCandidate& judged) {
  const Candidate& candidate = judged.candidate;
  return {{"backend", candidate.backend},
          {"isa", candidate.isa},
          {"role", to_string(candidate.role)},
          {"gfloats_per_second", candidate.gfloats_per_second},
          {"relative_iqr", candidate.relative_iqr},
          {"max_abs", number_or_null(candidate.max_abs)},
          {"max_ulp", number_or_null(candidate.max_ulp)},
          {"error_bound", number_or_null(candidate.promise.max_abs)},
          {"promises", judged.promises},
          {"compared", judged.compared},
          {"ratio", judged.ratio},
          {"low", judged.low},
          {"high", number_or_null(judged.high)},
          {"tied", judged.tied}};
}

std::string json_of(const Measurements& document, const Accuracy& accuracy,
                    const std::vector<Verdict>& verdicts, const std::filesystem::path& saved) {
  Json json = new_document();
  json["machine"] = suite::to_json(document.machine);
  json["measured_at"] = document.measured_at;
  json["accuracy"] = to_string(accuracy);
  json["disturbed"] = document.disturbed;
  json["profile"] = saved.empty() ? Json() : Json(saved.string());
  json["classes"] = Json::array();
  for (const Verdict& each : verdicts) {
    Json entry = {{"shape_class", to_string(each.measured.shape)},
                  {"dtype", to_string(each.measured.type)},
                  {"threads", each.measured.threads},
                  {"tables", each.measured.tables},
                  {"noise_floor", each.measured.noise_floor},
                  {"pick", each.pick ? entry_of(*each.pick) : Json()},
                  {"others", Json::array()}};
    for (const JudgedCandidate& other : each.others) entry["others"].push_back(entry_of(other));
    json["classes"].push_back(std::move(entry));
  }
  return text_of(json);
}

/// The file that --save names; else the one that the library reads. Empty without --save.
std::filesystem::path file_to_save(const PickCommand& command) {
  if (!command.saves) return {};
  const std::filesystem::path file =
      command.save_file.empty() ? default_profile_path() : std::filesystem::path(command.save_file);
  if (file.empty()) {
    throw InvalidArgument(fmt::format(
        "--save is without FILE, and none of POSENC_PROFILE{} is set; allowed: one of them",
        settings_variables));
  }
  check_writable(file, Folders::are_made);
  return file;
}

/// Adds the measurements to those of an existing valid profile. Returns a line that says what was
/// done.
std::string save(const Measurements& measured, const std::filesystem::path& file) {
  const FolderLock alone(file);  // else the measurements of another command may be lost
  const Uninterrupted whole;
  const LoadedProfile older =
      std::filesystem::is_regular_file(file) ? load_profile(file) : LoadedProfile{};
  const Measurements merged = older.measurements ? merge(*older.measurements, measured) : measured;
  write_measurements(merged, file);
  const std::size_t kept = merged.all.size() - measured.all.size();
  std::string line = fmt::format("Profile saved: {}", file.string());
  if (kept > 0) line += fmt::format(" ({} earlier measurements kept)", kept);
  if (!older.measurements && !older.reason.empty())
    line += fmt::format("\nIt replaces one that could not be used: {}", older.reason);
  return line + "\n";
}

int exit_code(const Measurements& document, const Accuracy& accuracy,
              const std::vector<Verdict>& verdicts) {
  int code = check_promises(document);
  for (const Verdict& each : verdicts) {
    if (each.pick) continue;
    print_message(fmt::format("no backend is {} on all tables of {}", to_string(accuracy),
                              each.measured.text()));
    code = check_failed;
  }
  if (verdicts.empty()) {
    print_message("the document has no measurement to pick from");
    code = check_failed;
  }
  return code;
}

int run_pick(const PickCommand& command) {
  const CommonOptions& common = command.measuring.common;
  if (!is_standard_output(common.output)) check_writable(common.output, Folders::must_exist);
  const std::filesystem::path file = file_to_save(command);
  const Accuracy accuracy = accuracy_of(command);
  if (command.document.empty()) check_possible(command, accuracy);
  const Measurements document = command.document.empty() ? measure_here(command.measuring)
                                                         : read_measurements(command.document);
  if (const std::string why = why_not_of_this_machine(document); !file.empty() && !why.empty()) {
    throw InvalidArgument(
        fmt::format("--save is given with {}: {}; allowed: measurements of this "
                    "machine and these kernels",
                    command.document, why));
  }
  const std::vector<Verdict> verdicts = pick(document, accuracy);
  // A document from elsewhere is judged as it is; the page says that it is not to be trusted.
  const bool is_new = command.document.empty() || !file.empty();
  const bool is_refused = is_new && !document.disturbed.empty() && !command.force;
  const bool is_saved = !file.empty() && !is_refused;
  const std::string saved = is_saved ? "\n" + save(document, file) : "";
  write_page(common.output, common.format == "json"
                                ? json_of(document, accuracy, verdicts, is_saved ? file : "")
                                : page_of(document, accuracy, verdicts) + saved);
  const int code = exit_code(document, accuracy, verdicts);
  if (!is_refused) return code;
  print_message(document.disturbed +
                (file.empty() ? "" : "; nothing is saved (--force saves the times as they are)"));
  return check_failed;
}

}  // namespace

void add_pick_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PickCommand>();
  CLI::App& command = add_subcommand(
      app, "pick", "Find the fastest backend that promises an accuracy, by measurements", action,
      [options] { return run_pick(*options); });
  command
      .add_option("DOCUMENT", options->document,
                  "JSON of posenc measure to judge (default: measure now)")
      ->type_name("FILE");
  add_real_option(command, options->max_error, "--max-error", Sign::positive,
                  "accept backends that promise this |error| (default: correctly rounded ones)");
  add_real_option(command, options->max_ulp, "--max-ulp", Sign::positive,
                  "accept backends that promise this error in ulp, instead of --max-error");
  exclude(command, "--max-ulp", {"--max-error"});
  add_measuring_options(command, options->measuring);
  exclude(command, "DOCUMENT",
          {"--preset", "--backend", "--isa", "--dtype", "--threads", "--processes"});
  const auto take = [file = options.get()](const std::vector<std::string>& files) {
    file->saves = true;
    if (!files.empty()) file->save_file = files.front();
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--save", take,
          "keep the measurements as this CPU's profile, in FILE or where the library looks for it "
          "(see Files)")
      ->expected(0, 1)
      ->type_name("FILE");
  add_flag(command, options->force, "--force", "accept and save the times even if other work ran");
  add_format_option(command, options->measuring.common, {"table", "json"}, "table");
  add_output_option(command, options->measuring.common);
  describe(command, {{"posenc pick", "the fastest that is correctly rounded, measured now"},
                     {"posenc pick --save", "the same, kept for programs that use the library"},
                     {"posenc pick here.json --max-error 1e-6",
                      "the fastest within 1e-6, by measurements made earlier"},
                     {"posenc pick --format json", "the same for programs"}});
}

}  // namespace posenc::cli
