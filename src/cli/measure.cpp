// posenc measure: measures errors and times of every backend, and the limits of the memory system,
// in one document.
#include "posenc/suite/measure.h"

#include "cli/commands.h"

#include "posenc/suite/document.h"
#include "posenc/suite/measurement_json.h"
#include "posenc/suite/microarchitecture.h"
#include "posenc/suite/shape_class.h"
#include "posenc/suite/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

namespace posenc::cli {

using namespace suite;
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Time of the faster store loop on the same table; NaN if the document has no store loop for it.
double seconds_of_limit(const MeasuredTable& table, const Measurements& document) {
  double limit = infinity;
  for (const Measurement& each : document.all) {
    const bool stores = each.backend == "store" || each.backend == "non_temporal_store";
    if (each.role == Role::limit && stores && each.is_timed() && each.table == table)
      limit = std::min(limit, median(each.seconds));
  }
  return limit < infinity ? limit : std::nan("");
}

/// Sorts by the size of the table. Within a table, backends and peers come first, sorted by time;
/// the limits follow.
std::vector<const Measurement*> in_order(const Measurements& document) {
  std::vector<const Measurement*> order;
  for (const Measurement& each : document.all) order.push_back(&each);
  std::ranges::stable_sort(order, {}, [](const Measurement* each) {
    const double seconds = each->is_timed() ? median(each->seconds) : infinity;
    return std::tuple(each->table.bytes(), each->table.text(), each->role == Role::limit, seconds);
  });
  return order;
}

/// The heading of a table: its size, and the share of its rows whose errors were measured, unless
/// the errors cover all rows.
std::string heading_of(const Measurement& first, const Cpu& machine) {
  const MeasuredTable& table = first.table;
  std::string heading =
      fmt::format("{}: {}, {}", table.text(), bytes_text(static_cast<double>(table.bytes())),
                  to_string(shape_class(table.bytes(), machine)));
  if (!first.error || first.error->checked >= 1) return heading;
  return heading + (first.error->checked == 0 ? "; errors of some rows"
                                              : fmt::format("; errors of {:.2g} % of the rows",
                                                            100 * first.error->checked));
}

/// The rows of the backends that the options ask for, and the limits of their tables.
std::string page_of(const Measurements& document, const Options& options) {
  Json rows = Json::array();
  const Measurement* last = nullptr;
  std::size_t processes = 0;
  for (const Measurement* each : in_order(document)) {
    if (each->role != Role::limit && !counts(options, *each)) continue;
    if (last == nullptr || last->table != each->table) {
      if (last != nullptr) rows.push_back(nullptr);
      for (const std::string& line : broken(heading_of(*each, document.machine), page_width))
        rows.push_back(line);
    }
    last = each;
    if (!each->not_available.empty()) {
      add_refusal(rows, to_json(*each));
      continue;
    }
    processes = std::max(processes, each->seconds.size());
    Json& row = rows.emplace_back(to_json(*each));
    row["note"] = each->keeps_its_promise() ? "" : "wrong: over its bound";
    if (!each->is_timed()) continue;
    const double seconds = median(each->seconds);
    row["median"] = seconds;
    row["noise"] = relative_iqr(each->seconds);
    row["speed"] = each->gfloats_per_second();
    row["of_limit"] = seconds_of_limit(each->table, document) / seconds;
  }
  const auto noise = [](double share) { return fmt::format("± {:.1f} %", 100 * share); };
  const auto share = [](double value) { return fmt::format("{:.0f} %", 100 * value); };
  return fmt::format(
      "{}{}\n{}{}{}",
      wrapped(fmt::format("{} ({})\n{}, posenc {}\n", document.machine.model,
                          microarchitecture_text(document.machine), document.compiler,
                          document.library_version)),
      wrapped(fmt::format(
          "medians of {} processes, {}; warm memory, planning excluded\n"
          "errors: the largest over all entries, unless a table says otherwise\n"
          "IQR/2: half the interquartile range over the processes\n"
          "limit: the faster of a plain and a non-temporal store loop over the same bytes; copy: a "
          "copy of a finished table\n",
          processes, document.measured_at)),
      table(rows, {backend_column(true), number("max |error|", "/error/max_abs", error_text),
                   number("max ulp", "/error/max_ulp", ulp_text),
                   number("time per table", "/median", seconds_text),
                   number("IQR/2", "/noise", noise), speed_column("Gfloat/s", "/speed"),
                   number("of limit", "/of_limit", share), text("", "/note")}),
      explained_mark(rows), notes_of(document));
}

int run_measure(const Options& options) {
  const bool is_new = options.document.empty();
  const Measurements document =
      is_new ? measure_here(options)
             : rows_asked_for(options, options.document, read_measurements(options.document));
  if (options.format == "google-benchmark")
    write_all(options.output, text_of(google_benchmark_document(document)));
  else
    write_document(options, to_json(document), page_of(document, options));
  const int code = check_promises(document);
  if (document.disturbed.empty() || !is_new) return code;
  print_message(document.disturbed);
  return check_failed;
}

/// The contents of rows, for messages.
std::string contents_of(const std::vector<const Measurement*>& rows) {
  Names tables, types, threads, backends;
  for (const Measurement* each : rows) {
    add_once(tables, each->table.text());
    add_once(types, std::string(to_string(each->table.type)));
    add_once(threads, std::to_string(each->table.threads));
    add_once(backends, each->full_name());
  }
  return fmt::format("types {}; threads {}; tables {}; backends {}", join(types, ", "),
                     join(threads, ", "), join(tables, "; "), join(backends, ", "));
}

}  // namespace

std::vector<MeasuredTable> tables_to_measure(const Options& options) {
  return tables_of(options, default_tables());
}

Measurements measure_here(const Options& options) {
  Progress progress;
  MeasureOptions wanted = {
      .tables = tables_to_measure(options),
      .backends = backends_of(options),
      .progress = [&](double share, std::string_view doing) { progress(share, doing); }};
  for (const MeasuredTable& table : wanted.tables)
    backends_of(options, table.type);  // throws if a named backend cannot write the type
  wanted.processes = options.processes.value_or(wanted.processes);
  std::string one_process;
  wanted.time_in_process = time_in_own_processes(one_process);
  Measurements document = measure(wanted);
  document.one_process = one_process;
  return document;
}

bool counts(const Options& options, const MeasuredBackend& backend) {
  const Names& names = options.backends;
  return (!options.isa || to_string(*options.isa) == backend.isa) &&
         (names.empty() || std::ranges::count(names, backend.backend) > 0 ||
          std::ranges::count(names, backend.full_name()) > 0);
}

Measurements rows_asked_for(const Options& options, const std::string& name, Measurements document,
                            const std::function<bool(const MeasuredBackend&)>& runs) {
  std::vector<const Measurement*> rows;  // that may be asked for
  for (const Measurement& each : document.all)
    if (each.role != Role::limit && runs(each)) rows.push_back(&each);
  if (std::ranges::none_of(rows, &Measurement::is_timed))
    throw_invalid("document is {}, which has no times; allowed: JSON of posenc measure", name);
  const auto is_asked_for = [](const Options& which, const Measurement* row) {
    return names_table(which, row->table) && counts(which, *row);
  };
  // Each value must match a row, and at least one row must match all of them together.
  const auto check_value = [&](const char* option, auto Options::*field, const auto& value,
                               const auto& text) {
    Options alone;
    alone.*field = {value};
    if (std::ranges::any_of(rows, std::bind_front(is_asked_for, alone))) return;
    throw_invalid("{} is '{}'; allowed with {}: {}", option, text, name, contents_of(rows));
  };
  const auto check = [&](const char* option, auto Options::*values, const auto& text_of_value) {
    for (const auto& each : options.*values) check_value(option, values, each, text_of_value(each));
  };
  check("--shape", &Options::shapes,
        [](TableSize size) { return fmt::format("{}x{}", size.rows, size.d_model); });
  check("--dtype", &Options::types, [](DataType type) { return to_string(type); });
  check("--threads", &Options::threads, [](int threads) { return threads; });
  check("--backend", &Options::backends, std::identity());
  if (options.isa) check_value("--isa", &Options::isa, *options.isa, to_string(*options.isa));
  std::vector<MeasuredTable> kept;
  for (const Measurement* row : rows) {
    if (is_asked_for(options, row)) kept.push_back(row->table);
  }
  if (kept.empty()) {
    throw_invalid("the options together ask for no row of {}; allowed: {}", name,
                  contents_of(rows));
  }
  std::erase_if(document.all, [&](const Measurement& row) {
    const bool says_noise = row.role == Role::limit || !row.self_ratios.empty();
    return std::ranges::count(kept, row.table) == 0 || (!says_noise && !counts(options, row));
  });
  return document;
}

std::string notes_of(const Measurements& document, const std::string& name) {
  std::string notes;
  const auto add = [&notes](const char* what, const std::string& why) {
    if (!why.empty()) notes += wrapped(fmt::format("\n{}: {}\n", what, why));
  };
  add("Not to be trusted", document.disturbed);
  add("Timed in one process, so that the intervals do not show how times differ between processes",
      document.one_process);
  add("Not measured", document.left_out);
  return notes.empty() || name.empty() ? notes : fmt::format("\n{}: {}", name, notes.substr(1));
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

void add_measure_command(CLI::App& program, Options& options) {
  CLI::App& app = add_command(
      program, options, run_measure, "measure",
      "Measure the errors and times of all backends, and the speed limits of the memory",
      {{"posenc measure", "tables of all sizes, in three to five minutes"},
       {"posenc measure --shape 777x768 --dtype float32,bfloat16 --threads 1,2",
        "a shape of your own, in two types, with one and two threads"},
       {"posenc measure --format json --output here.json",
        "a document for posenc pick, posenc compare and scripts/report.py"},
       {"posenc measure --preset whisper --backend rotation --backend rotation32",
        "one table, two methods"},
       {"posenc measure here.json --format google-benchmark --output there.json",
        "a document for compare.py of Google Benchmark"}});
  add_text(app, "DOCUMENT", "FILE", options.document,
           "JSON of posenc measure to show (default: measure now)");
  add_measuring(app, options);
  exclude(app, "DOCUMENT", {"--processes"});
  add_output(app, options, {"table", "json", "google-benchmark"});
}

}  // namespace posenc::cli
