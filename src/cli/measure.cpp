// posenc measure: errors and times of every backend, and what the memory system allows, as one
// document.
#include "posenc/suite/measuring/measure.h"

#include "cli/commands.h"

#include "posenc/suite/measuring/ties.h"
#include "posenc/support/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace posenc::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of the faster store loop on the same table; NaN if the document has none.
double seconds_of_limit(const MeasuredTable& table, const Measurements& document) {
  double limit = infinity;
  for (const Measurement& each : document.all) {
    const bool stores = each.backend == "store" || each.backend == "non_temporal_store";
    if (each.role == Role::limit && stores && each.is_timed() && each.table == table)
      limit = std::min(limit, median(each.seconds));
  }
  return limit < infinity ? limit : std::nan("");
}

/// By size of the table; within a table backends and peers by time, and then the limits.
std::vector<const Measurement*> in_order(const Measurements& document) {
  std::vector<const Measurement*> order;
  for (const Measurement& each : document.all) order.push_back(&each);
  std::ranges::stable_sort(order, {}, [](const Measurement* each) {
    const double seconds = each->is_timed() ? median(each->seconds) : infinity;
    return std::tuple(each->table.bytes(), each->table.name, each->role == Role::limit, seconds);
  });
  return order;
}

/// Says of how many entries the errors are, unless it is all.
std::string heading_of(const Measurement& first, const Cpu& machine) {
  const MeasuredTable& table = first.table;
  std::string heading =
      fmt::format("{}: {}, {}, {}, {}", table.name, bytes_text(static_cast<double>(table.bytes())),
                  to_string(shape_class(table.bytes(), machine)), to_string(table.type),
                  to_string(table.spec.layout));
  if (!first.error || first.error->checked >= 1) return heading;
  return heading + (first.error->checked == 0 ? "; errors of some rows"
                                              : fmt::format("; errors of {:.2g} % of the rows",
                                                            100 * first.error->checked));
}

std::string page_of(const Measurements& document) {
  Json rows = Json::array();
  const Measurement* last = nullptr;
  std::size_t processes = 0;
  for (const Measurement* each : in_order(document)) {
    if (last == nullptr || last->table != each->table) {
      if (last != nullptr) rows.push_back(nullptr);
      rows.push_back(heading_of(*each, document.machine));
    }
    last = each;
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
      "{}, {}, posenc {}\n{}\n{}{}", document.machine.model, document.compiler,
      document.library_version,
      wrapped(fmt::format(
          "medians of {} processes, {}; warm memory, planning excluded\n"
          "errors: the largest over all entries, unless a table says otherwise\n"
          "IQR/2: half the interquartile range over the processes\n"
          "limit: the faster of a plain and a non-temporal store loop over the same bytes; copy: a "
          "finished table, copied\n",
          processes, document.measured_at)),
      table(rows, {backend_column(true), number("max |error|", "/error/max_abs", error_text),
                   number("max ulp", "/error/max_ulp", ulp_text),
                   number("time per table", "/median", seconds_text),
                   number("IQR/2", "/noise", noise), speed_column("Gfloat/s", "/speed"),
                   number("of limit", "/of_limit", share), text("", "/note")}),
      explained_mark(rows));
}

int run_measure(const Options& options) {
  const Measurements document = measure_here(options);
  write_document(options, to_json(document), page_of(document));
  const int code = check_promises(document);
  if (document.disturbed.empty()) return code;
  print_message(document.disturbed);
  return check_failed;
}

#ifndef POSENC_STARTS_PROCESSES

constexpr auto time_in_new_process = time_rows;

#else

std::string& first_argument() {
  static std::string name = "posenc";
  return name;
}

/// This program, as start_process() finds it, also if its file was replaced since the start.
std::string program_file() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return first_argument();
  return std::filesystem::exists(here, error) ? here.string() : "/proc/self/exe";
}

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error(fmt::format("a process that times cannot be run: {}", why));
}

/// Starts a process that answers the request. Throws std::runtime_error if it fails.
Timing time_in_new_process(const TimingRequest& request) {
  Json rows = Json::array();
  for (const Measurement& row : request.rows) rows.push_back(to_json(row));
  const Json asked = {{"samples", request.samples},
                      {"seconds_per_sample", request.seconds_per_sample},
                      {"seed", request.seed},
                      {"rows", std::move(rows)}};
  const File in = temporary_file(asked.dump()), out = temporary_file(), err = temporary_file();
  const int code = wait_for(start_process(
      program_file(), {timing_argument}, {fileno(in.get()), fileno(out.get()), fileno(err.get())}));
  if (code != good) {
    const std::string message = content_of(err.get());
    fail(message.empty() ? fmt::format("it ended with exit code {}", code)
                         : message.substr(0, message.find('\n')));
  }
  try {
    const Json json = Json::parse(content_of(out.get()));
    return {json.at("seconds").get<std::vector<double> >(), json.at("timed_seconds").get<double>(),
            json.at("lost_seconds").get<double>()};
  } catch (const Json::exception&) {
    fail("it wrote no result");
  }
}

#endif

}  // namespace

#ifdef POSENC_STARTS_PROCESSES

void remember_program(const char* name) { first_argument() = name; }

int time_on_request() {
  end_with_parent();  // else nobody waits for the result
  TimingRequest request;
  try {
    const Json asked = Json::parse(std::cin);
    request = {.rows = {},
               .samples = asked.at("samples").get<int>(),
               .seconds_per_sample = asked.at("seconds_per_sample").get<double>(),
               .seed = asked.at("seed").get<std::uint64_t>()};
    for (const Json& row : asked.at("rows")) request.rows.push_back(measurement_from(row));
  } catch (const std::exception&) {
    throw_invalid("standard input is not a request; allowed with {}: one of posenc measure",
                  timing_argument);
  }
  const Timing timing = time_rows(request);
  write_all("", text_of({{"seconds", timing.seconds},
                         {"timed_seconds", timing.timed_seconds},
                         {"lost_seconds", timing.lost_seconds}}));
  return good;
}

#endif

std::vector<MeasuredTable> tables_of(const Options& options) {
  const int threads = options.threads.value_or(1);
  std::vector<MeasuredTable> tables;
  for (const std::string& name : options.presets) {
    const Preset& named = preset_or_benchmark_shape(name);
    MeasuredTable table = table_of(named.spec, named.rows, options.data_type(), threads);
    table.name = name;
    if (std::ranges::count(tables, table) == 0) tables.push_back(std::move(table));
  }
  return tables.empty() ? default_tables(options.data_type(), threads) : tables;
}

Measurements measure_here(const Options& options) {
  Progress progress;
  MeasureOptions wanted = {
      .tables = tables_of(options),
      .backends = backends_of(options),
      .time_in_process = time_in_new_process,
      .progress = [&](double share, std::string_view doing) { progress(share, doing); }};
  wanted.processes = options.processes.value_or(wanted.processes);
  return measure(wanted);
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

Subcommand measure_command() {
  return {.name = "measure",
          .description = "Measure errors and times of all backends, and what the memory allows",
          .run = run_measure,
          .options = measuring_options,
          .examples = {{"posenc measure", "tables of all sizes, in about two minutes"},
                       {"posenc measure --format json --output here.json",
                        "a document for posenc pick, posenc compare and scripts/report.py"},
                       {"posenc measure --preset whisper --backend rotation --backend rotation32",
                        "one table, two methods"}}};
}

}  // namespace posenc::cli
