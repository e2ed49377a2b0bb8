// posenc measure: errors and times of every backend, and what the memory system allows, as one
// document.
#include "posenc/suite/measuring/measure.h"

#include "cli/commands.h"
#include "cli/measuring.h"
#include "cli/options.h"
#include "cli/output.h"

#include "posenc/suite/measuring/measurement_json.h"

#include <CLI/App.hpp>

#include <memory>

namespace posenc::cli {

using namespace suite;
namespace {

struct MeasureCommand {
  MeasuringOptions measuring;
  bool times_on_request = false;
};

int run_measure(const MeasureCommand& command) {
  if (command.times_on_request) return time_on_request();
  const CommonOptions& common = command.measuring.common;
  if (!is_standard_output(common.output)) check_writable(common.output, Folders::must_exist);
  const Measurements document = measure_here(command.measuring);
  write_page(common.output,
             common.format == "json" ? text_of(to_json(document)) : measurements_text(document));
  const int code = check_promises(document);
  if (document.disturbed.empty()) return code;
  print_message(document.disturbed);
  return check_failed;
}

}  // namespace

void add_measure_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<MeasureCommand>();
  CLI::App& command = add_subcommand(
      app, "measure",
      "Measure errors and times of all backends, and what the memory allows, as one document",
      action, [options] { return run_measure(*options); });
  add_measuring_options(command, options->measuring);
  add_format_option(command, options->measuring.common, {"table", "json"}, "table");
  add_output_option(command, options->measuring.common);
  command.add_flag(timing_option, options->times_on_request)->group("");
  describe(command, {{"posenc measure", "tables of all sizes, in about two minutes"},
                     {"posenc measure --format json --output here.json",
                      "a document for posenc pick, posenc compare and scripts/report.py"},
                     {"posenc measure --preset whisper --backend rotation --backend rotation32",
                      "one table, two methods"}});
}

}  // namespace posenc::cli
