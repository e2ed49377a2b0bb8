// posenc pick: which backend is the fastest of those that promise an accuracy, by a document of
// measurements, or measured now.
#include "posenc/suite/pick.h"

#include "cli/commands.h"

#include "posenc/cpu.h"
#include "posenc/selection.h"
#include "posenc/suite/profile.h"

#include <fmt/format.h>

#include <utility>

namespace posenc::cli {
namespace {

/// "l2, to 1 MiB": the bytes of a table of that class.
std::string class_text(ShapeClass shape, const Cpu& machine) {
  const std::string name(to_string(shape));
  const std::int64_t ends[] = {machine.l1_bytes, machine.l2_bytes, machine.l3_bytes, 0};
  const std::int64_t end = ends[static_cast<std::size_t>(shape)];
  return end == 0 ? name : name + ", to " + bytes_text(static_cast<double>(end));
}

std::string verdicts_table(const std::vector<Verdict>& verdicts, const Accuracy& accuracy,
                           const Cpu& machine) {
  Json rows = Json::array();
  std::string heading;
  for (const Verdict& each : verdicts) {
    const MeasuredClass& measured = each.measured;
    const std::string tables =
        fmt::format("{}: {}, {} {}", to_string(accuracy), to_string(measured.type),
                    measured.threads, measured.threads == 1 ? "thread" : "threads");
    if (std::exchange(heading, tables) != tables) rows.push_back(tables);
    Json& row = rows.emplace_back(Json{{"shape", class_text(measured.shape, machine)}});
    row["picked"] = each.pick ? each.pick->full_name() : "none";
    if (!each.pick) continue;
    row["speed"] = each.pick->gfloats_per_second;
    row["bound"] = each.pick->promise.max_abs;
    if (const Candidate* const next = each.next(); next != nullptr) {
      row["next"] = next->full_name();
      row["ratio"] = next->time.ratio;
    }
    Names tied;
    for (const Candidate& other : each.others)
      if (other.tied) tied.push_back(other.full_name());
    row["tied"] = join(tied, ", ");
  }
  return table(
      rows, {text("table", "/shape"), text("picked", "/picked"), speed_column("Gfloat/s", "/speed"),
             number("bound", "/bound", error_text), text("next", "/next"),
             number("ratio", "/ratio", [](double x) { return fmt::format("{:.3f}", x); }),
             text("tied with", "/tied", Align::wrapped)});
}

std::string page_of(const Measurements& document, const Accuracy& accuracy,
                    const std::vector<Verdict>& verdicts) {
  std::string page = fmt::format(
      "{}\n{}\n{}", document.machine.model,
      wrapped(fmt::format(
          "The fastest of those that promise an accuracy, by measurements of {}\n"
          "bound: of |error|, proven; ratio: time of the next backend over that of the pick\n"
          "tied with: backends that differ by less than one does from itself\n",
          document.measured_at)),
      verdicts_table(verdicts, accuracy, document.machine));
  if (accuracy == Accuracy()) {
    const Accuracy larger = Accuracy::within(larger_error);
    page += "\n" + verdicts_table(pick(document, larger), larger, document.machine);
  }
  if (!document.disturbed.empty())
    page += wrapped("\nNot to be trusted: " + document.disturbed + "\n");
  return page +
         wrapped(
             "\nA program uses a pick NAME:ISA by posenc::backend(\"NAME\", posenc::Isa::ISA), "
             "or with POSENC_BACKEND=NAME:ISA in its environment\n");
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

Json document_of(const Measurements& document, const Accuracy& accuracy,
                 const std::vector<Verdict>& verdicts) {
  Json json = new_document();
  json["machine"] = suite::to_json(document.machine);
  json["measured_at"] = document.measured_at;
  json["accuracy"] = to_string(accuracy);
  json["disturbed"] = document.disturbed;
  json["classes"] = Json::array();
  for (const Verdict& each : verdicts) {
    Json entry = {{"shape_class", to_string(each.measured.shape)},
                  {"dtype", to_string(each.measured.type)},
                  {"threads", each.measured.threads},
                  {"tables", each.measured.tables},
                  {"noise_floor", each.measured.noise_floor},
                  {"pick", each.pick ? entry_of(*each.pick) : Json()},
                  {"others", Json::array()}};
    for (const Candidate& other : each.others) entry["others"].push_back(entry_of(other));
    json["classes"].push_back(std::move(entry));
  }
  return json;
}

int run_pick(const Options& options) {
  const std::string& file = options.save;
  const Accuracy accuracy = options.accuracy();
  if (!file.empty()) check_output(file);
  const bool is_new = options.document.empty();
  if (is_new) {  // nothing need be measured to know that no backend promises the accuracy
    for (const MeasuredTable& each : tables_of(options))
      select_backend(each.spec, each.rows, {.accuracy = accuracy, .type = each.type});
  }
  const Measurements document =
      is_new ? measure_here(options) : read_measurements(options.document);
  if (const std::string why = why_not_of_this_machine(document); !file.empty() && !why.empty()) {
    throw_invalid(
        "--save is given with {}: {}; allowed: measurements of this "
        "machine and these kernels",
        options.document, why);
  }
  const std::vector<Verdict> verdicts = pick(document, accuracy);
  // A document from elsewhere is judged as it is; the page says that it is not to be trusted.
  const bool is_refused = (is_new || !file.empty()) && !document.disturbed.empty();
  std::string page = page_of(document, accuracy, verdicts);
  if (!file.empty() && !is_refused) {
    write_all(file, text_of(to_json(document)));
    page += "\nProfile saved: " + file + "\n";
  }
  write_document(options, document_of(document, accuracy, verdicts), page);
  int code = check_promises(document);
  const auto fail = [&code](const std::string& message) {
    print_message(message);
    code = check_failed;
  };
  for (const Verdict& each : verdicts) {
    if (!each.pick)
      fail(fmt::format("no backend is {} on all tables of {}", to_string(accuracy),
                       each.measured.text()));
  }
  if (verdicts.empty()) fail("the document has no measurement to pick from");
  if (is_refused)
    fail(document.disturbed +
         (file.empty() ? "" : "; nothing is saved (posenc measure writes the times as they are)"));
  return code;
}

}  // namespace

Subcommand pick_command() {
  return {
      .name = "pick",
      .description = "Find the fastest backend that promises an accuracy, by measurements",
      .run = run_pick,
      .options = "DOCUMENT? --max-error --max-ulp" + measuring_options + "--save",
      .examples = {{"posenc pick", "the fastest that is correctly rounded, measured now"},
                   {"posenc pick --save profile.json", "the same, kept for programs that load it"},
                   {"posenc pick here.json --max-error 1e-6",
                    "the fastest within 1e-6, by measurements made earlier"},
                   {"posenc pick --format json", "the same for programs"}},
      .excludes = {{"--max-ulp", "--max-error"},
                   {"DOCUMENT", "--preset --backend --isa --dtype --threads --processes"}}};
}

}  // namespace posenc::cli
