// posenc list: the backends of this build, what runs here, which one is used and why.
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/list_presets.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/layers/rotary.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace posenc::cli {
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

struct Listed {
  const Backend* backend;
  std::optional<Bounds> bounds;  ///< where it runs here
};

/// What is used for a shape class, and the sizes of the tables in it.
struct Used {
  ShapeClass shape;
  std::int64_t most_bytes;  ///< to a power of two; of the last class: without end
  Selection selection;
};

/// Who asks for encodings, and what they get.
struct User {
  std::string_view name;   ///< for programs
  std::string_view title;  ///< for people
  Accuracy accuracy;
  std::vector<Used> used;
};

struct State {
  std::vector<Listed> backends;
  std::vector<User> users;
  std::string profile_path;
};

/// What a program may ask for besides the default.
constexpr double rough_error = 1e-6;

/// Tables of 1 KiB, 2 KiB, ... 1 TiB find the classes that this CPU has: the largest of a class
/// stands for it.
std::vector<Used> find_used(const SelectionOptions& options) {
  constexpr EncodingSpec spec = {.d_model = 64};
  constexpr std::int64_t row_bytes = 64 * sizeof(float);
  std::vector<Used> used;
  for (std::int64_t bytes = std::int64_t{1} << 40; bytes >= 1024; bytes /= 2) {
    const ShapeClass shape = shape_class(bytes);
    if (!used.empty() && used.front().shape == shape) continue;
    used.insert(used.begin(),
                {shape, bytes, select_backend(spec, {0, bytes / row_bytes}, options)});
  }
  return used;
}

/// Rotary has no table of its own: one answer, as it gives it.
std::vector<Used> find_rotary(const Accuracy& accuracy) {
  const Rotary rotary(64, 10000.0, RotaryLayout::halves, accuracy);
  return {{ShapeClass::l1, 0, rotary.selection()}};
}

std::vector<User> find_users() {
  const Accuracy exact, rough = Accuracy::within(rough_error);
  return {{"used", "tables", exact, find_used({})},
          {"used_by_layers", "layers, which add", exact, find_used({.adds = true})},
          {"used_by_rotary", "rotary", exact, find_rotary(exact)},
          {"used_within", "tables", rough, find_used({.accuracy = rough})},
          {"used_by_layers_within", "layers, which add", rough,
           find_used({.accuracy = rough, .adds = true})},
          {"used_by_rotary_within", "rotary", rough, find_rotary(rough)}};
}

State look() {
  State state;
  state.users = find_users();
  state.profile_path = default_profile_path().string();
  for (const Backend* each : backends()) {
    Listed listed = {each, {}};
    if (each->runs_here()) {
      const auto encoder = each->plan(bound_spec);
      listed.bounds = {encoder->error_bound(short_rows), encoder->error_bound(long_rows)};
    }
    state.backends.push_back(listed);
  }
  return state;
}

std::string cpu_text() {
  std::vector<std::string_view> isas;
  for (const Isa isa : cpu().isas) isas.push_back(to_string(isa));
  const auto cache = [](std::int64_t bytes) { return bytes > 0 ? bytes_text(bytes) : "unknown"; };
  return fmt::format("CPU      {}\n         {}; L1 {}, L2 {}, L3 {}; {} logical cores\n",
                     cpu().model, fmt::join(isas, ", "), cache(cpu().l1_bytes),
                     cache(cpu().l2_bytes), cache(cpu().l3_bytes), cpu().logical_cores);
}

std::string profile_text(const State& state) {
  const auto& [profile, reason] = profile_in_use();
  const std::string indent = "\n         ";
  if (!profile) return "none in use: " + reason;
  std::vector<std::string> classes;
  for (const MeasuredClass& each : profile->classes) {
    classes.push_back(fmt::format("{} {} ({} {})", to_string(each.shape), to_string(each.type),
                                  each.threads, each.threads == 1 ? "thread" : "threads"));
  }
  return fmt::format(
      "{}{}measured: {}{}posenc profile shows it, posenc profile --forget removes it",
      state.profile_path, indent, fmt::join(classes, ", "), indent);
}

/// ISAs of one method whose bounds are the same: one line of the table.
struct Line {
  const Listed* listed;
  std::string isas;
};

std::vector<Line> lines_of(const std::vector<Listed>& backends) {
  std::vector<Line> lines;
  for (const Listed& each : backends) {
    const std::string isa(to_string(each.backend->isa()));
    if (!lines.empty() && lines.back().listed->backend->name() == each.backend->name() &&
        lines.back().listed->bounds == each.bounds) {
      lines.back().isas += " " + isa;
    } else {
      lines.push_back({&each, isa});
    }
  }
  return lines;
}

std::string backends_text(const std::vector<Line>& lines) {
  Table table({{"backend", Align::left},
               {"ISA", Align::left},
               {"runs here", Align::left},
               {"method", Align::wrapped}});
  for (const auto& [listed, isas] : lines) {
    const Colour colour = listed->bounds ? Colour::none : Colour::faint;
    const Backend& backend = *listed->backend;
    table.add_row({{marked_name(backend.name(), backend.name(), backend.isa()), colour},
                   {isas, colour},
                   {listed->bounds ? "yes" : "no", colour},
                   {std::string(backend.description()), colour}});
  }
  return with_mark_explained(table.text());
}

std::string bounds_text(const std::vector<Line>& lines) {
  Table table({{"backend", Align::left}, {"ISA", Align::left}, {"5000 rows"}, {"2^20 rows"}});
  for (const auto& [listed, isas] : lines) {
    if (!listed->bounds) continue;
    table.add_row({std::string(listed->backend->name()), isas,
                   error_text(listed->bounds->short_context),
                   error_text(listed->bounds->long_context)});
  }
  return table.text();
}

bool is_same_for_all(const std::vector<Used>& used) {
  return std::ranges::all_of(used, [&](const Used& each) {
    const Selection& first = used.front().selection;
    return each.selection.backend == first.backend && each.selection.reason == first.reason;
  });
}

/// Tables of which sizes get what, as one line if it is the same for all.
std::string used_text(const User& user) {
  const std::string heading = fmt::format("{}, {}", user.title, to_string(user.accuracy));
  if (is_same_for_all(user.used)) {
    const Selection& selection = user.used.front().selection;
    return fmt::format("{}: {}\n{}", heading, selection.backend->full_name(),
                       wrapped(selection.reason + "\n", "  "));
  }
  Table table({{"tables", Align::left},
               {"shape class", Align::left},
               {"used", Align::left},
               {"why", Align::wrapped}});
  for (std::size_t i = 0; i < user.used.size(); ++i) {
    const Used& each = user.used[i];
    const bool is_last = i + 1 == user.used.size();
    table.add_row({is_last ? "larger" : "up to " + bytes_text(each.most_bytes),
                   std::string(to_string(each.shape)), each.selection.backend->full_name(),
                   each.selection.reason});
  }
  return fmt::format("{}:\n{}", heading, table.text());
}

/// What programs get that ask for less, in a line each.
std::string rough_text(const User& user) {
  std::vector<std::string> names;
  for (const Used& each : user.used) {
    const std::string name = each.selection.backend->full_name();
    if (is_same_for_all(user.used))
      return fmt::format("{}, {}: {}\n", user.title, to_string(user.accuracy), name);
    names.push_back(fmt::format("{} {}", to_string(each.shape), name));
  }
  return wrapped(
      fmt::format("{}, {}: {}\n", user.title, to_string(user.accuracy), fmt::join(names, ", ")));
}

std::string users_text(const State& state) {
  std::string text;
  for (const User& each : state.users)
    text += each.accuracy == Accuracy() ? used_text(each) + "\n" : rough_text(each);
  return text;
}

std::string table_text(const State& state) {
  const std::vector<Line> lines = lines_of(state.backends);
  return fmt::format(
      "posenc {}, {}, xsimd {}\n{}{}\n"
      "Backends\n\n{}\n"
      "Bounds: the largest |error| that each allows, at d_model 512\n\n{}\n"
      "Used if a program names no backend\n\n{}",
      library_version(), compiler(), xsimd_version(), cpu_text(),
      wrapped("profile  " + profile_text(state) + "\n"), backends_text(lines), bounds_text(lines),
      users_text(state));
}

std::string_view name_of(SelectionSource source) {
  switch (source) {
    case SelectionSource::environment: return "environment";
    case SelectionSource::profile: return "profile";
    case SelectionSource::built_in: break;
  }
  return "built_in";
}

Json entry_of(const Listed& listed) {
  Json entry = {{"backend", listed.backend->name()},
                {"isa", to_string(listed.backend->isa())},
                {"description", listed.backend->description()},
                {"runs_here", listed.bounds.has_value()},
                {"can_be_picked", listed.backend->can_be_picked()}};
  if (listed.bounds) {
    entry["error_bounds"] =
        Json::array({{{"rows", to_json(short_rows)}, {"error_bound", listed.bounds->short_context}},
                     {{"rows", to_json(long_rows)}, {"error_bound", listed.bounds->long_context}}});
  }
  return entry;
}

std::string json_text(const State& state) {
  Json document = new_document();
  document["backends"] = Json::array();
  for (const Listed& each : state.backends) document["backends"].push_back(entry_of(each));
  for (const User& user : state.users) {
    Json& entries = document[std::string(user.name)] = Json::array();
    for (const Used& each : user.used) {
      entries.push_back({{"shape_class", to_string(each.shape)},
                         {"accuracy", to_string(user.accuracy)},
                         {"backend", each.selection.backend->name()},
                         {"isa", to_string(each.selection.backend->isa())},
                         {"source", name_of(each.selection.source)},
                         {"reason", each.selection.reason}});
    }
  }
  const auto& [profile, reason] = profile_in_use();
  document["profile"] = {
      {"path", state.profile_path}, {"valid", profile.has_value()}, {"reason", reason}};
  return text_of(document);
}

struct ListCommand {
  CommonOptions common;
  bool presets = false;
};

std::string page(const ListCommand& command) {
  const bool is_json = command.common.format == "json";
  if (command.presets) return is_json ? presets_json() : presets_table();
  const State state = look();
  return is_json ? json_text(state) : table_text(state);
}

int list(const ListCommand& command) {
  write_page(command.common.output, page(command));
  return good;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ListCommand>();
  CLI::App& command = add_subcommand(
      app, "list", "List the backends of this build: which run here, which one is used, and why",
      action, [options] { return list(*options); });
  add_flag(command, options->presets, "--presets", "list the conventions of real systems instead");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common);
  describe(command,
           {{"posenc list", "what runs here, which backend is used, and why"},
            {"POSENC_BACKEND=rotation:avx2 posenc list", "what an environment variable changes"},
            {"posenc list --presets", "the conventions that have names, and how they differ"},
            {"posenc list --format json", "the same for programs"}});
}

}  // namespace posenc::cli
