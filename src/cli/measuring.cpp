#include "cli/measuring.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/suite/measuring/measure.h"
#include "posenc/suite/measuring/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace posenc::cli {

using namespace suite;
namespace {

/// The table of Student's t ends at twice this number.
constexpr int most_processes = 15;

/// The share of the faster store loop on the same table; empty if the document has none.
std::string share_of_limit(const Measurement& measured, const Measurements& document) {
  double limit = std::numeric_limits<double>::infinity();
  for (const Measurement& each : document.all) {
    const bool stores = each.backend == "store" || each.backend == "non_temporal_store";
    if (each.role == Role::limit && stores && each.is_timed() && each.table == measured.table)
      limit = std::min(limit, median(each.seconds));
  }
  if (!(limit < std::numeric_limits<double>::infinity())) return "";
  return fmt::format("{:.0f} %", 100 * limit / median(measured.seconds));
}

/// Says of how many entries the errors are, unless it is all.
std::string sample_text(const Measurement& measured) {
  if (!measured.error || measured.error->checked >= 1) return "";
  if (measured.error->checked == 0) return "; errors of some rows";
  return fmt::format("; errors of {:.2g} % of the rows", 100 * measured.error->checked);
}

std::vector<Cell> row_of(const Measurement& measured, const Measurements& document) {
  const auto& error = measured.error;
  std::vector<Cell> cells = {marked_name(measured.full_name(), measured.role == Role::peer),
                             error ? error_text(error->max_abs) : "",
                             error ? ulp_text(error->max_ulp) : ""};
  if (!measured.is_timed()) {
    for (const char* const text : {"-", "", "-", ""}) cells.emplace_back(text);
  } else {
    cells.emplace_back(seconds_text(median(measured.seconds)));
    cells.emplace_back(fmt::format("± {:.1f} %", 100 * relative_iqr(measured.seconds)));
    cells.emplace_back(
        fmt::format("{:.2f}", measured.table.entries() / median(measured.seconds) / 1e9));
    cells.emplace_back(share_of_limit(measured, document));
  }
  cells.emplace_back(measured.keeps_its_promise() ? "" : "wrong: over its bound");
  return cells;
}

/// By size of the table; within a table backends and peers by time, and then the limits.
std::vector<const Measurement*> in_order(const Measurements& document) {
  std::vector<const Measurement*> order;
  for (const Measurement& each : document.all) order.push_back(&each);
  std::ranges::stable_sort(order, {}, [](const Measurement* each) {
    const double seconds =
        each->is_timed() ? median(each->seconds) : std::numeric_limits<double>::infinity();
    return std::tuple(each->table.bytes(), each->table.name, each->role == Role::limit, seconds);
  });
  return order;
}

std::string heading_of(const MeasuredTable& table, const Cpu& machine) {
  return fmt::format("{}: {}, {}, {}, {}", table.name, bytes_text(table.bytes()),
                     to_string(shape_class(table.bytes(), machine)), to_string(table.type),
                     to_string(table.spec.layout));
}

}  // namespace

void add_measuring_options(CLI::App& command, MeasuringOptions& options) {
  add_preset_option(command, options.common, Times::often);
  add_backend_options(command, options.common, Times::often);
  add_type_option(command, options.common);
  add_threads_option(command, options.common, "1");
  add_integer_option(command, options.processes, "--processes", 2, most_processes,
                     "number of processes to time in; up to twice as many if the figures are noisy "
                     "(default: 7)");
}

std::vector<MeasuredTable> tables_of(const MeasuringOptions& options) {
  const CommonOptions& common = options.common;
  const int threads = common.threads.value_or(1);
  std::vector<MeasuredTable> tables;
  for (const std::string& name : common.presets) {
    const Preset& named = preset_or_benchmark_shape(name);
    MeasuredTable table = table_of(named.spec, named.rows, common.type, threads);
    table.name = name;
    if (std::ranges::count(tables, table) == 0) tables.push_back(std::move(table));
  }
  return tables.empty() ? default_tables(common.type, threads) : tables;
}

Measurements measure_here(const MeasuringOptions& options) {
  Progress progress;
  MeasureOptions wanted = {
      .tables = tables_of(options),
      .backends = {},
      .time_in_process = time_in_new_process,
      .progress = [&](double share, std::string_view doing) { progress(share, doing); }};
  if (options.processes) wanted.processes = *options.processes;
  if (!options.common.backends.empty() || options.common.isa)
    wanted.backends = backends_of(options.common);
  return measure(wanted);
}

std::string measurements_text(const Measurements& document) {
  Table table({{"backend", Align::left},
               {"max |error|"},
               {"max ulp"},
               {"time per table"},
               {"IQR/2"},
               {"Gfloat/s"},
               {"of limit"},
               {"", Align::left}});
  const Measurement* last = nullptr;
  std::size_t processes = 0;
  for (const Measurement* each : in_order(document)) {
    if (last == nullptr || last->table != each->table) {
      if (last != nullptr) table.add_gap();
      table.add_heading(heading_of(each->table, document.machine) + sample_text(*each));
    }
    last = each;
    processes = std::max(processes, each->seconds.size());
    table.add_row(row_of(*each, document));
  }
  const std::string what = wrapped(fmt::format(
      "medians of {} processes, {}; warm memory, planning excluded\n"
      "errors: the largest over all entries, unless a table says otherwise\n"
      "IQR/2: half the interquartile range over the processes\n"
      "limit: the faster of a plain and a non-temporal store loop over the same bytes; copy: a "
      "finished table, copied\n",
      processes, document.measured_at));
  return fmt::format("{}, {}, posenc {}\n{}\n{}", document.machine.model, document.compiler,
                     document.library_version, what, with_mark_explained(table.text()));
}

int check_promises(const Measurements& document) {
  int code = good;
  for (const Measurement& each : document.all) {
    if (each.keeps_its_promise()) continue;
    print_message(
        fmt::format("{} breaks its error bound on {}: max |error| is {:.4e}, the bound is {:.4e}",
                    each.full_name(), each.table.name, each.error->max_abs, each.promise->max_abs));
    code = check_failed;
  }
  return code;
}

}  // namespace posenc::cli
