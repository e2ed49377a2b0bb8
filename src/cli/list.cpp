// posenc list: the backends of this build, which of them run here, and which one is used.
#include "cli/commands.h"

#include "posenc/cpu.h"
#include "posenc/encode_options.h"
#include "posenc/selection.h"
#include "posenc/suite/microarchitecture.h"
#include "posenc/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace posenc::cli {

using namespace model;
using namespace suite;
namespace {

/// Error bounds are listed for this spec, over the tutorial's rows and over a long context.
const EncodingSpec bound_spec = {.d_model = 512};
constexpr RowRange bound_rows[] = {{0, 5000}, {0, 1 << 20}};

Json entry_of(const Backend& backend) {
  Json entry = {{"backend", backend.name()},
                {"isa", to_string(backend.isa())},
                {"description", backend.description()},
                {"phases", backend.phases()},
                {"runs_here", backend.runs_here()},
                {"can_be_picked", backend.can_be_picked()}};
  if (!backend.runs_here()) return entry;
  try {
    const auto encoder = backend.plan(bound_spec);
    for (const RowRange rows : bound_rows) {
      entry["error_bounds"].push_back(
          {{"rows", suite::to_json(rows)}, {"error_bound", encoder->error_bound(rows)}});
    }
  } catch (const InvalidArgument& error) {
    entry["not_available"] = error.what();
  }
  return entry;
}

/// The backend that a program gets if it names none.
Json selection_of(const Accuracy& accuracy) {
  const Selection selected = select_backend(bound_spec, bound_rows[0], {.accuracy = accuracy});
  return {{"accuracy", to_string(accuracy)},
          {"backend", selected.backend->name()},
          {"isa", to_string(selected.backend->isa())},
          {"source", selected.source == SelectionSource::environment ? "environment" : "built_in"},
          {"reason", selected.reason}};
}

Json backends_document() {
  Json document = new_document();
  for (const Backend* each : backends()) document["backends"].push_back(entry_of(*each));
  for (const Accuracy& each : {Accuracy(), Accuracy::within(larger_error)})
    document["used"].push_back(selection_of(each));
  document["most_cached_bytes"] = most_cached_bytes();
  return document;
}

std::string cache_text(std::int64_t bytes) {
  return bytes > 0 ? bytes_text(static_cast<double>(bytes)) : "unknown";
}

std::string backends_page(const Json& document) {
  const Cpu& here = cpu();
  std::string page = fmt::format(
      "posenc {}, {}, xsimd {}\n"
      "CPU      {}\n         {}; L1 {}, L2 {}, L3 {}; {} logical cores\n"
      "stores   plain up to {}, then non-temporal\n\n",
      library_version(), compiler(), xsimd_version(), here.model,
      fmt::join(names_of(here.isas, [](Isa isa) { return to_string(isa); }), ", "),
      cache_text(here.l1_bytes), cache_text(here.l2_bytes), cache_text(here.l3_bytes),
      here.logical_cores, cache_text(most_cached_bytes()));
  const Json rows = joined_by_isa(document.at("backends"));
  page +=
      table(rows,
            {backend_column(), text("ISA", "/isa"), text("method", "/description", Align::wrapped),
             text("phases", "/phases", Align::wrapped),
             number("5000 rows", "/error_bounds/0/error_bound", bound_text),
             number("2^20 rows", "/error_bounds/1/error_bound", bound_text)}) +
      explained_mark(rows) +
      "\n5000 rows, 2^20 rows: the bound of |error| at d_model 512; - if the backend cannot run "
      "here\n"
      "phases: how position times frequency is rounded before the sine, which decides the error\n";
  page +=
      "\nIf a program names no backend, posenc uses the first of rotation32 and rotation that\n"
      "promises the requested accuracy, at its best ISA. POSENC_BACKEND may name another backend\n"
      "that promises it.\n\n" +
      table(document.at("used"), {text("accuracy", "/accuracy"), backend_column(true),
                                  text("why", "/reason", Align::wrapped)});
  return page;
}

Json presets_document() {
  Json document = new_document();
  for (const Preset& each : presets()) {
    document["presets"].push_back({{"name", each.name},
                                   {"description", each.description},
                                   {"spec", suite::to_json(each.spec)},
                                   {"rows", suite::to_json(each.rows)}});
  }
  for (const AxesPreset& each : axes_presets()) {
    document["axes"].push_back({{"name", each.name},
                                {"description", each.description},
                                {"d_model", axes_table(each.name).spec.d_model()},
                                {"grid", each.usual}});
  }
  return document;
}

std::string presets_page(const Json& document) {
  const auto shape = [](const Json& row) {
    return at(row, "/rows/count").dump() + " x " + at(row, "/spec/d_model").dump();
  };
  const auto base = [](double number) { return fmt::to_string(number); };
  const auto grid = [](const Json& row) {
    return fmt::format("{}", fmt::join(row.at("grid").get<GridSizes>(), " x "));
  };
  return fmt::format(
      "Presets: conventions of real systems, and the shapes of their usual tables\n\n{}\n{}\n"
      "Systems whose positions are on several axes (posenc generate --axes)\n\n{}",
      table(document.at("presets"), {text("preset", "/name"),
                                     text("system", "/description", Align::wrapped),
                                     text("layout", "/spec/layout"),
                                     text("spacing", "/spec/spacing"),
                                     number("base", "/spec/base", base),
                                     {"rows x d", shape},
                                     text("first", "/rows/first", Align::right)}),
      wrapped(
          "d is d_model; first is the position of the first row.\n"
          "Layout: where the sine and cosine of frequency k stand in a row. interleaved: 2k and "
          "2k + 1; halves: k and d/2 + k; halves_cos_first: d/2 + k and k.\n"
          "Spacing: frequency k is base^-e. paper: e = 2k/d; inclusive: e = k/(d/2 - 1).\n"),
      table(document.at("axes"), {text("axes", "/name"),
                                  text("system", "/description", Align::wrapped),
                                  text("channels", "/d_model", Align::right),
                                  {"usual grid", grid}}));
}

/// The documents that come with posenc, the newest of each CPU first.
Json cpus_document() {
  Json document = new_document();
  std::vector<const Measurements*> known;
  for (const Measurements& each : known_documents()) known.push_back(&each);
  std::ranges::stable_sort(known, [](const Measurements* one, const Measurements* other) {
    return std::tuple(one->machine.model, other->measured_at) <
           std::tuple(other->machine.model, one->measured_at);
  });
  for (const Measurements* const each : known) {
    const Microarchitecture* const design = microarchitecture_of(each->machine);
    Json& entry = document["cpus"].emplace_back(suite::to_json(each->machine));
    const std::string_view series = design != nullptr ? design->series : "";
    entry["vendor"] = series.substr(0, series.find(' '));
    if (const auto signature = signature_in(each->machine.model)) {
      entry["family"] = signature->family;
      entry["model"] = signature->model;
    }
    entry["compiler"] = each->compiler;
    entry["kernels"] = each->kernels;
    entry["measured_at"] = each->measured_at;
  }
  for (const Microarchitecture& each : microarchitectures()) document["names"].push_back(each.name);
  return document;
}

std::string cpus_page(const Json& document) {
  Json rows = Json::array();
  std::string last;
  for (const Json& each : document.at("cpus")) {  // keep only the newest document of each CPU
    const auto cpu_name = each.at("cpu").get<std::string>();
    if (std::exchange(last, cpu_name) == cpu_name) continue;
    Json& row = rows.emplace_back(each);
    row["best"] = each.at("isas").back();
    row["day"] = each.at("measured_at").get<std::string>().substr(0, 10);
    // Cut family, model and stepping from the name: family and model have columns of their own.
    row["name"] = last.substr(0, last.find(" (family"));
  }
  return fmt::format(
      "CPUs whose measurements come with posenc, for posenc pick --cpu\n\n{}\n{}",
      table(rows, {text("CPU", "/microarchitecture", Align::wrapped), text("vendor", "/vendor"),
                   text("family", "/family", Align::right), text("model", "/model", Align::right),
                   text("sold or shown as", "/name", Align::wrapped), text("ISA", "/best"),
                   text("measured", "/day"), text("kernels", "/kernels")}),
      wrapped(fmt::format("For a CPU that was not measured, posenc pick uses the nearest measured "
                          "CPU and says why. "
                          "--cpu takes a name ({}), or a text with family and model, such as "
                          "\"family 6, model 85\".\n",
                          fmt::join(document.at("names").get<Names>(), ", "))));
}

Json models_document() {
  Json document = new_document();
  document["models"] = known_model_types();
  return document;
}

std::string models_page(const Json& document) {
  const auto models = document.at("models").get<Names>();
  return wrapped(fmt::format("{} model types whose config.json posenc reads\n", models.size())) +
         "\n" + wrapped(join(models, ", ") + "\n");
}

int list(const Options& options) {
  const auto write = [&options](const Json& document, std::string (*page_of)(const Json&)) {
    write_document(options, document, page_of(document));
  };
  if (options.lists_presets) {
    write(presets_document(), presets_page);
  } else if (options.lists_cpus) {
    write(cpus_document(), cpus_page);
  } else if (options.lists_models) {
    write(models_document(), models_page);
  } else {
    write(backends_document(), backends_page);
  }
  return good;
}

}  // namespace

void add_list_command(CLI::App& program, Options& options) {
  CLI::App& app = add_command(
      program, options, list, "list",
      "List the backends of this build: which backends run here, which backend "
      "is used, and why",
      {{"posenc list", "what runs here, which backend is used, and why"},
       {"POSENC_BACKEND=rotation:avx2 posenc list", "the same, with another backend preferred"},
       {"posenc list --presets", "the named conventions, and how they differ"},
       {"posenc list --cpus", "the CPUs that posenc pick --cpu knows"},
       {"posenc list --models", "the values of model_type in config.json"},
       {"posenc list --format json", "the same as JSON, for programs"}});
  add_flag(app, "--presets", options.lists_presets, "list the conventions of real systems instead");
  add_flag(app, "--cpus", options.lists_cpus,
           "list the CPUs whose measurements come with posenc instead");
  add_flag(app, "--models", options.lists_models,
           "list the model types whose config.json posenc reads instead");
  exclude(app, "--presets", {"--cpus", "--models"});
  exclude(app, "--cpus", {"--models"});
  add_output(app, options);
}

}  // namespace posenc::cli
