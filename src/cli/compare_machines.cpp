// posenc compare: shows the speeds of several machines side by side, without a verdict.
#include "cli/commands.h"

#include "posenc/suite/compare.h"
#include "posenc/suite/microarchitecture.h"

#include <fmt/format.h>

#include <algorithm>

namespace posenc::cli {

using namespace suite;
namespace {

/// The machine and the day: "Zen 5, avx512, 2026-11-27". If the CPU has no known name, its place
/// among the documents identifies it.
std::string label_of(const Measurements& document, std::size_t place) {
  const Microarchitecture* const known = microarchitecture_of(document.machine);
  return fmt::format("{}, {}, {}",
                     known != nullptr ? std::string(known->name) : fmt::format("CPU of {}", place),
                     to_string(document.machine.isas.back()), document.measured_at.substr(0, 10));
}

/// The speed of each backend at its best ISA on a table, and the speeds of the copy and the limit.
Json speeds_of(const Measurements& document, const MeasuredTable& table) {
  Json speeds;
  double limit = 0;
  for (const Measurement& each : document.all) {  // ISAs ascend, so the best one is kept
    MeasuredTable its = each.table;
    its.name = table.name;
    if (its != table || !each.is_timed() || each.role == Role::peer) continue;
    const double speed = each.gfloats_per_second();
    if (each.role == Role::backend || each.backend == "copy")
      speeds[each.backend] = speed;
    else
      limit = std::max(limit, speed);
  }
  if (limit > 0) speeds["limit"] = limit;
  return speeds;
}

}  // namespace

int compare_machines(const Options& options, const std::vector<Measurements>& documents) {
  std::vector<MeasuredTable> common;
  for (const Measurement& row : documents.front().all) {
    const auto has_it = [&row](const Measurements& each) {
      const Measurement* const found = find_row(each, row);
      return found != nullptr && found->is_timed();
    };
    if (row.role == Role::backend && std::ranges::all_of(documents, has_it))
      add_once(common, row.table);
  }
  if (common.empty()) {
    throw_invalid(
        "{} have no timed backend and table in common; allowed: documents of posenc measure that "
        "share one",
        join(options.documents, " and "));
  }
  std::ranges::stable_sort(common, {}, &MeasuredTable::bytes);
  Json rows = Json::array(), tables = Json::array();
  Names names, outside;
  for (const MeasuredTable& each : common) {
    if (!rows.empty()) rows.push_back(nullptr);
    rows.push_back(
        fmt::format("{}: {}", each.text(), bytes_text(static_cast<double>(each.bytes()))));
    Json entry = {{"table", each.name},
                  {"dtype", to_string(each.type)},
                  {"threads", each.threads},
                  {"gfloats_per_second", Json::array()}};
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Json speeds = speeds_of(documents[i], each);
      Json& row = rows.emplace_back(Json{{"label", "  " + label_of(documents[i], i + 1)}});
      row["speed"] = speeds;
      entry["gfloats_per_second"].push_back(speeds);
      for (const auto& [name, speed] : speeds.items())
        if (name != "copy" && name != "limit") add_once(names, name);
    }
    tables.push_back(std::move(entry));
  }
  names.emplace_back("copy");
  names.emplace_back("limit");
  std::vector<Column> columns = {text("table, CPU", "/label")};
  for (const std::string& name : names) columns.push_back(speed_column(name, "/speed/" + name));
  std::string page = "Gfloat/s of each backend at the best ISA of each CPU\n\n";
  Json machines = Json::array();
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Measurements& each = documents[i];
    page += origin_text(std::to_string(i + 1), options.documents[i], each);
    machines.push_back({{"document", options.documents[i]},
                        {"machine", suite::to_json(each.machine)},
                        {"compiler", each.compiler},
                        {"kernels", each.kernels},
                        {"measured_at", each.measured_at}});
    for (const Measurement& row : each.all)
      if (std::ranges::count(common, row.table) == 0) add_once(outside, row.table.text());
  }
  page += "\n" + table(rows, columns);
  if (!outside.empty())
    page += "\n" + wrapped("Not in all documents: " + join(outside, "; ") + "\n");
  for (std::size_t i = 0; i < documents.size(); ++i)
    page += notes_of(documents[i], std::to_string(i + 1));
  page += "\nSpeeds of different machines, compilers and days are shown, and not judged.\n";
  Json document = new_document();
  document.update({{"times_are_judged", false}, {"machines", machines}, {"tables", tables}});
  write_document(options, document, page);
  return good;
}

}  // namespace posenc::cli
