// posenc pick: finds the fastest backend that promises an accuracy, by a document of measurements
// or by measuring now.
#include "posenc/suite/pick.h"

#include "cli/commands.h"

#include "posenc/cpu.h"
#include "posenc/selection.h"
#include "posenc/suite/document.h"
#include "posenc/suite/microarchitecture.h"
#include "posenc/suite/profile.h"
#include "posenc/support/kernels_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace posenc::cli {

using namespace suite;
namespace {

/// The verdicts on a document.
struct Picks {
  std::vector<Verdict> levels, tables;
};

/// The measurements that decide, and why they stand for the requested CPU.
struct Source {
  Measurements document;
  std::string why;
  std::function<bool(const MeasuredBackend&)> counts;  ///< the backends that may be picked
};

Picks picks_of(const Source& source, const Accuracy& accuracy) {
  return {pick(source.document, accuracy, Grouping::levels, source.counts),
          pick(source.document, accuracy, Grouping::tables, source.counts)};
}

/// A text that distinguishes a table from the others of its level, type and number of threads: the
/// size if it is unique, and otherwise the text of the table without type and threads.
std::string shape_text(MeasuredTable table, const MeasuredClass& level) {
  const auto size_of_table = [](const MeasuredTable& each) {
    return size_name(each.spec, each.rows);
  };
  const std::string size = size_of_table(table);
  if (std::ranges::count(level.tables, size, size_of_table) == 1) return size;
  table.type = DataType::float32;
  table.threads = 1;
  return table.text();
}

/// A class and the most bytes of its tables: "l2, to 1 MiB".
std::string class_text(ShapeClass shape, const Cpu& machine) {
  const std::string name(to_string(shape));
  const std::int64_t ends[] = {machine.l1_bytes, machine.l2_bytes, machine.l3_bytes, 0};
  const std::int64_t end = ends[static_cast<std::size_t>(shape)];
  return end == 0 ? name : name + ", to " + bytes_text(static_cast<double>(end));
}

Json row_of(const Verdict& verdict, std::string name) {
  Json row = {{"shape", std::move(name)},
              {"picked", verdict.pick ? verdict.pick->full_name() : "none"}};
  if (!verdict.pick) return row;
  row["speed"] = verdict.pick->gfloats_per_second;
  row["bound"] = verdict.pick->promise.max_abs;
  if (const Candidate* const next = verdict.next(); next != nullptr) {
    row["next"] = next->full_name();
    row["ratio"] = next->time.ratio;
  }
  Names tied;
  for (const Candidate& other : verdict.others)
    if (other.tied) tied.push_back(other.full_name());
  row["tied"] = join(tied, ", ");
  return row;
}

/// One row per level, and below it one row per table of the level, unless every level has a single
/// table. With `if_promised`, levels on which no backend promises the accuracy are skipped.
std::string verdicts_table(const Picks& picks, const Accuracy& accuracy, const Cpu& machine,
                           bool if_promised = false) {
  Json rows = Json::array();
  std::string heading;
  for (const Verdict& level : picks.levels) {
    const MeasuredClass& measured = level.measured;
    if (if_promised && !level.pick) continue;
    const std::string tables =
        fmt::format("{}: {}, {} {}", to_string(accuracy), to_string(measured.type),
                    measured.threads, measured.threads == 1 ? "thread" : "threads");
    if (std::exchange(heading, tables) != tables) rows.push_back(tables);
    const std::string name = class_text(measured.shape, machine);
    if (picks.levels.size() == picks.tables.size()) {
      rows.push_back(row_of(level, fmt::format("{}: {}", name.substr(0, name.find(',')),
                                               shape_text(measured.tables.front(), measured))));
      continue;
    }
    rows.push_back(row_of(level, name));
    for (const Verdict& each : picks.tables) {
      const MeasuredTable& table = each.measured.tables.front();
      if (std::ranges::count(measured.tables, table) > 0)
        rows.push_back(row_of(each, "  " + shape_text(table, measured)));
    }
  }
  if (rows.empty()) return "";
  return "\n" +
         table(rows, {text("table", "/shape"), text("picked", "/picked"),
                      speed_column("Gfloat/s", "/speed"), number("bound", "/bound", bound_text),
                      text("next", "/next"),
                      number("ratio", "/ratio", [](double x) { return fmt::format("{:.3f}", x); }),
                      text("tied with", "/tied", Align::wrapped)});
}

std::string page_of(const Source& source, const Accuracy& accuracy, const Picks& picks) {
  const Measurements& document = source.document;
  std::string kernels;
  if (document.kernels != kernels_digest()) {
    kernels = fmt::format("Measured with the kernels {}; this posenc has {}\n", document.kernels,
                          kernels_digest());
  }
  std::string page = fmt::format(
      "{}{}{}", source.why.empty() ? "" : wrapped(source.why + "\n"),
      wrapped(fmt::format(
          "{} ({})\n{}The fastest backend that promises an accuracy, as measured at {}\n"
          "bound: the proven bound of |error|\n"
          "ratio: the time of the next backend, divided by the time of the pick\n"
          "tied with: backends that are as fast as the fastest, within the noise or 2 %\n",
          document.machine.model, microarchitecture_text(document.machine), kernels,
          document.measured_at)),
      verdicts_table(picks, accuracy, document.machine));
  if (accuracy == Accuracy()) {
    const Accuracy larger = Accuracy::within(larger_error);
    constexpr bool if_promised = true;  // no backend promises 1e-6 in 16 bits
    page += verdicts_table(picks_of(source, larger), larger, document.machine, if_promised);
  }
  return page + notes_of(document) +
         wrapped(
             "\nTo use a pick NAME:ISA, call posenc::backend(\"NAME\", posenc::Isa::ISA) in a "
             "program, or set POSENC_BACKEND=NAME:ISA in its environment\n");
}

Json entry_of(const Candidate& candidate) {
  return {{"backend", candidate.backend},
          {"isa", candidate.isa},
          {"role", to_string(candidate.role)},
          {"gfloats_per_second", candidate.gfloats_per_second},
          {"max_abs", candidate.max_abs},
          {"error_bound", candidate.promise.max_abs},
          {"compared", candidate.compared},
          {"ratio", candidate.time.ratio},
          {"low", candidate.time.low},
          {"high", candidate.time.high},
          {"tied", candidate.tied}};
}

Json document_of(const Source& source, const Accuracy& accuracy, const Picks& picks) {
  const Measurements& document = source.document;
  Json json = new_document();
  json["machine"] = suite::to_json(document.machine);
  json["measured_at"] = document.measured_at;
  json["accuracy"] = to_string(accuracy);
  json["kernels"] = document.kernels;
  json["disturbed"] = document.disturbed;
  json["why"] = source.why;
  for (const auto& [key, verdicts] :
       {std::pair("classes", &picks.levels), std::pair("tables", &picks.tables)}) {
    json[key] = Json::array();
    for (const Verdict& each : *verdicts) {
      Json entry = {{"shape_class", to_string(each.measured.shape)},
                    {"dtype", to_string(each.measured.type)},
                    {"threads", each.measured.threads},
                    {"tables", names_of(each.measured.tables, &MeasuredTable::text)},
                    {"noise_floor", each.measured.noise_floor},
                    {"pick", each.pick ? entry_of(*each.pick) : Json()},
                    {"others", Json::array()}};
      for (const Candidate& other : each.others) entry["others"].push_back(entry_of(other));
      json[key].push_back(std::move(entry));
    }
  }
  return json;
}

Source source_of(const Options& options) {
  const auto counts_for = [&options](const MeasuredBackend& each) { return counts(options, each); };
  if (options.document.empty() && options.cpu.empty()) return {measure_here(options), "", {}};
  if (options.cpu.empty()) {
    return {rows_asked_for(options, options.document, read_measurements(options.document)), "",
            counts_for};
  }
  const KnownCpu found =
      in_place("--cpu", [&] { return find_cpu(options.cpu, known_documents()); });
  const auto runs = [isas = found.isas](const MeasuredBackend& each) {
    return std::ranges::count(isas, each.isa, [](Isa isa) { return to_string(isa); }) > 0;
  };
  return {rows_asked_for(options, "the document of " + found.document->machine.model,
                         *found.document, runs),
          options.cpu + ": " + found.why,
          [=](const MeasuredBackend& each) { return counts_for(each) && runs(each); }};
}

int run_pick(const Options& options) {
  const std::string& file = options.save;
  const Accuracy accuracy = options.accuracy();
  if (!file.empty()) check_output(file);
  const bool is_new = options.document.empty() && options.cpu.empty();
  if (is_new) {  // throw before measuring if no backend promises the accuracy
    for (const MeasuredTable& each : tables_to_measure(options))
      select_backend(each.spec, each.rows, {.accuracy = accuracy, .type = each.type});
  }
  const Source source = source_of(options);
  const Measurements& document = source.document;
  if (const std::string why = why_not_of_this_machine(document); !file.empty() && !why.empty()) {
    throw_invalid(
        "--save is given with {}: {}; allowed: measurements of this "
        "machine and these kernels",
        options.document, why);
  }
  const Picks picks = picks_of(source, accuracy);
  // An existing document is judged even if it was disturbed; the page warns of it.
  const bool is_refused = (is_new || !file.empty()) && !document.disturbed.empty();
  std::string page = page_of(source, accuracy, picks);
  if (!file.empty() && !is_refused) {
    write_all(file, text_of(to_json(document)));
    page += "\nProfile saved: " + file + "\n";
  }
  write_document(options, document_of(source, accuracy, picks), page);
  int code = check_promises(document);
  const auto fail = [&code](const std::string& message) {
    print_message(message);
    code = check_failed;
  };
  for (const Verdict& each : picks.levels) {
    if (!each.pick)
      fail(fmt::format("no backend is {} on all tables of {}", to_string(accuracy),
                       each.measured.text()));
  }
  if (picks.levels.empty()) fail("the document has no measurement to pick from");
  if (is_refused)
    fail(document.disturbed +
         (file.empty() ? "" : "; nothing is saved (posenc measure writes such times, too)"));
  return code;
}

}  // namespace

void add_pick_command(CLI::App& program, Options& options) {
  CLI::App& app =
      add_command(program, options, run_pick, "pick",
                  "Find the fastest backend that promises an accuracy, from measurements",
                  {{"posenc pick", "the fastest correctly rounded backend, measured now"},
                   {"posenc pick --save profile.json", "a profile for programs that load it"},
                   {"posenc pick here.json --max-error 1e-6",
                    "the fastest backend within 1e-6, from earlier measurements"},
                   {"posenc pick --cpu \"Zen 4\"", "the pick for another CPU"},
                   {"posenc pick here.json --isa avx2 --shape 5000x512",
                    "the pick for a CPU without AVX-512, for one table"},
                   {"posenc pick --format json", "the same as JSON, for programs"}});
  add_text(app, "DOCUMENT", "FILE", options.document,
           "JSON of posenc measure (default: measure now)");
  add_text(app, "--cpu", "NAME", options.cpu,
           "pick for this CPU, from the measurements that come with posenc: a name, such "
           "as \"Zen 4\", or \"family N, model M\" (see posenc list --cpus)");
  add_accuracy(app, options);
  add_measuring(app, options);
  add_text(app, "--save", "FILE", options.save,
           "save the measurements in this file, as a profile for programs");
  exclude(app, "DOCUMENT", {"--processes", "--cpu"});
  exclude(app, "--cpu", {"--processes", "--save"});
  add_output(app, options);
}

}  // namespace posenc::cli
