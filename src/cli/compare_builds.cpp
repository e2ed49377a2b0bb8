// posenc compare --run: times two builds in turn, and compares their times.
#include "cli/commands.h"

#ifdef POSENC_STARTS_PROCESSES

#include "posenc/suite/compare.h"
#include "posenc/suite/document.h"
#include "posenc/suite/measure_accuracy.h"
#include "posenc/support/printable.h"
#include "posenc/support/program.h"

#include <fmt/format.h>

#include <algorithm>

namespace posenc::cli {

using namespace suite;
namespace {

/// Full names of the backends of a posenc command that run on this machine.
Names backends_of_program(const std::string& program) {
  Json listed;
  try {
    constexpr bool throws = false;
    listed = Json::parse(output_of_program(program, {"list", "--format", "json"}), nullptr, throws);
    if (listed.is_discarded()) throw InvalidArgument("it does not print JSON");
  } catch (const std::exception& error) {
    throw_invalid("{} is not a posenc command ({}); allowed with --run: two posenc commands",
                  program, error.what());
  }
  Names names;
  for (const Json& each : listed.at("backends")) {
    if (each.at("runs_here").get<bool>())
      names.push_back(each.at("backend").get<std::string>() + ":" +
                      each.at("isa").get<std::string>());
  }
  return names;
}

}  // namespace

int compare_builds(const Options& options) {
  const std::string &old_build = options.documents[0], &new_build = options.documents[1];
  const Names in_old = backends_of_program(old_build), in_new = backends_of_program(new_build);
  Names left_out;
  BuildsRequest request;
  request.time_before = [&](const auto& asked) { return time_by_program(old_build, asked); };
  request.time_after = [&](const auto& asked) { return time_by_program(new_build, asked); };
  auto tables = tables_to_measure(options);
  const std::string too_large = leave_out_large(tables);
  for (const MeasuredTable& table : tables) {
    std::vector<const Backend*> common = backends_of(options, table.type);
    std::erase_if(common, [&](const Backend* each) {
      const std::string name = each->full_name();
      const bool is_common =
          std::ranges::count(in_old, name) > 0 && std::ranges::count(in_new, name) > 0;
      if (!is_common) add_once(left_out, name);
      return !is_common;
    });
    if (common.empty()) throw_invalid("{} and {} have no backend in common", old_build, new_build);
    const PlannedEncoders planned = plan_all(common, table);
    for (const auto& encoder : planned.encoders)
      request.rows.push_back({row_of(encoder->backend(), table)});
    for (const Measurement& each : planned.refused)
      add_once(left_out,
               fmt::format("{} (not available: {})", each.full_name(), each.not_available));
  }
  request.rounds = options.rounds.value_or(request.rounds);
  Progress progress;
  request.progress = [&](double share, std::string_view doing) { progress(share, doing); };
  const BuildTimes times = time_builds(request);
  Measurements before = measurements_of_this_machine(), after = before;
  before.all = times.before;
  after.all = times.after;
  const Comparison comparison = suite::compare(before, after, {.noise_of_session = times.noise});
  std::string page = fmt::format(
      "A  {}\nB  {}\n   {}\n\n{}\n{}", escaped(old_build), escaped(new_build), before.machine.model,
      changes_page(comparison),
      wrapped(fmt::format("{} compared in {} rounds, each of four processes per table (A B B A); "
                          "noise {:.1f} % (a build compared with itself); regressions: {}\n"
                          "95 %: the probability that all intervals hold\n",
                          comparison.common, request.rounds, 100 * comparison.noise,
                          comparison.regressions)));
  if (!too_large.empty()) page += wrapped("Not compared: " + too_large + "\n");
  if (!left_out.empty()) page += wrapped("Not in both: " + join(left_out, ", ") + "\n");
  page += "Only times are compared. Run posenc accuracy of each build to compare errors.\n";
  const std::string disturbed = disturbance(times.lost_share, 0);
  if (!disturbed.empty()) page += wrapped("\nNot to be trusted: " + disturbed + "\n");
  Json document = comparison_document(options, comparison, true);
  document["rounds"] = request.rounds;
  document["disturbed"] = disturbed;
  write_document(options, document, page);
  if (!disturbed.empty()) print_message(disturbed);
  return comparison.regressions == 0 && disturbed.empty() ? good : check_failed;
}

}  // namespace posenc::cli

#endif
