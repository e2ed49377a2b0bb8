// posenc list: the backends of this build, which of them run here, and which one is used.
#include "cli/list.h"
#include "cli/commands.h"
#include "cli/isa_rows.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/profile.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace posenc::cli {

using namespace suite;
namespace {

/// The bounds that are listed: over the tutorial's rows, and over a long context.
const EncodingSpec bound_spec = {.d_model = 512};
constexpr RowRange short_rows = {0, 5000};
constexpr RowRange long_rows = {0, 1 << 20};

struct Bounds {
  double short_context;
  double long_context;

  bool operator==(const Bounds&) const = default;
};

struct ListedBackend {
  const Backend* backend;
  std::optional<Bounds> bounds;  ///< none if the CPU cannot run it
};

using ListedRow = IsaRow<ListedBackend>;

std::vector<ListedBackend> listed_backends() {
  std::vector<ListedBackend> all;
  for (const Backend* each : backends()) {
    ListedBackend& listed = all.emplace_back(ListedBackend{each, {}});
    if (!each->runs_here()) continue;
    const auto encoder = each->plan(bound_spec);
    listed.bounds = {encoder->error_bound(short_rows), encoder->error_bound(long_rows)};
  }
  return all;
}

std::string cpu_text() {
  std::vector<std::string_view> isas;
  for (const Isa isa : cpu().isas) isas.push_back(to_string(isa));
  const auto cache = [](std::int64_t bytes) { return bytes > 0 ? bytes_text(bytes) : "unknown"; };
  return fmt::format("CPU      {}\n         {}; L1 {}, L2 {}, L3 {}; {} logical cores\n",
                     cpu().model, fmt::join(isas, ", "), cache(cpu().l1_bytes),
                     cache(cpu().l2_bytes), cache(cpu().l3_bytes), cpu().logical_cores);
}

std::string profile_text() {
  const LoadedProfile& profile = profile_in_use();
  if (!profile.measurements) return "none in use: " + profile.reason;
  std::vector<std::string> classes;
  for (const MeasuredClass& each : profile.classes) classes.push_back(each.text());
  const std::string file = default_profile_path().string(), indent = "\n         ";
  return fmt::format(
      "{0}{1}measured: {2}{1}posenc pick {0} shows it; without the file, the "
      "built-in order is back",
      file, indent, fmt::join(classes, "; "));
}

std::string backends_text(const std::vector<ListedRow>& rows) {
  Table table({{"backend", Align::left},
               {"ISA", Align::left},
               {"runs here", Align::left},
               {"method", Align::wrapped}});
  for (const auto& [listed, isas] : rows) {
    const Backend& backend = *listed->backend;
    table.add_row({marked_name(backend.name(), !backend.can_be_picked()), isas,
                   listed->bounds ? "yes" : "no", backend.description()});
  }
  return with_mark_explained(table.text());
}

std::string bounds_text(const std::vector<ListedRow>& rows) {
  Table table({{"backend", Align::left},
               {"ISA", Align::left},
               {"phases", Align::left},
               {"5000 rows"},
               {"2^20 rows"}});
  for (const auto& [listed, isas] : rows) {
    if (!listed->bounds) continue;
    table.add_row(
        {std::string(listed->backend->name()), isas, std::string(listed->backend->phases()),
         error_text(listed->bounds->short_context), error_text(listed->bounds->long_context)});
  }
  return table.text();
}

std::string list_text() {
  const std::vector<ListedBackend> backends = listed_backends();
  const std::vector<ListedRow> rows = isa_rows(
      backends, [](const ListedBackend& each) { return each.backend->isa(); },
      [](const ListedBackend& a, const ListedBackend& b) {
        return a.backend->name() == b.backend->name() && a.bounds == b.bounds;
      });
  return fmt::format(
      "posenc {}, {}, xsimd {}\n{}{}\n"
      "Backends\n\n{}\n"
      "Error bounds: the largest |error| that each promises, at d_model 512, and what decides it:\n"
      "how the phase, position times frequency, is rounded before the sine\n\n{}\n"
      "Used if a program names no backend\n\n{}",
      library_version(), compiler(), xsimd_version(), cpu_text(),
      wrapped("profile  " + profile_text() + "\nstores   " + stores_text(most_cached_bytes()) +
              "\n"),
      backends_text(rows), bounds_text(rows), selection_text());
}

Json entry_of(const ListedBackend& listed) {
  Json entry = {{"backend", listed.backend->name()},
                {"isa", to_string(listed.backend->isa())},
                {"description", listed.backend->description()},
                {"phases", listed.backend->phases()},
                {"runs_here", listed.bounds.has_value()},
                {"can_be_picked", listed.backend->can_be_picked()}};
  if (listed.bounds) {
    entry["error_bounds"] = Json::array(
        {{{"rows", suite::to_json(short_rows)}, {"error_bound", listed.bounds->short_context}},
         {{"rows", suite::to_json(long_rows)}, {"error_bound", listed.bounds->long_context}}});
  }
  return entry;
}

std::string list_json() {
  Json document = new_document();
  document["backends"] = Json::array();
  for (const ListedBackend& each : listed_backends()) {
    document["backends"].push_back(entry_of(each));
  }
  document.update(selection_json());
  const LoadedProfile& profile = profile_in_use();
  document["profile"] = {{"path", default_profile_path().string()},
                         {"valid", profile.measurements.has_value()},
                         {"reason", profile.reason}};
  document["most_cached_bytes"] = most_cached_bytes();
  return text_of(document);
}

struct ListOptions {
  CommonOptions common;
  bool presets = false;
};

int list(const ListOptions& options) {
  const bool is_json = options.common.format == "json";
  write_page(options.common.output, options.presets ? (is_json ? presets_json() : presets_table())
                                    : is_json       ? list_json()
                                                    : list_text());
  return good;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ListOptions>();
  CLI::App& command = add_subcommand(
      app, "list", "List the backends of this build: which run here, which one is used, and why",
      action, [options] { return list(*options); });
  add_flag(command, options->presets, "--presets", "list the conventions of real systems instead");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common);
  describe(command,
           {{"posenc list", "what runs here, which backend is used, and why"},
            {"POSENC_BACKEND=rotation:avx2 posenc list", "what an environment variable changes"},
            {"posenc list --presets", "the named conventions, and how they differ"},
            {"posenc list --format json", "the same for programs"}});
}

}  // namespace posenc::cli
