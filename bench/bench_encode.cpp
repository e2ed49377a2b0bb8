// How fast does each backend encode, and how far is that from what the memory system allows?
//
//   encode/<backend>:<isa>/preset:whisper/rows:1500/d:1280   shapes of real systems, warm memory
//   encode/<backend>:<isa>/rows:512/d:512                    sizes from L1 to memory
//   encode/.../d:512/dtype:float16                           other types than float32
//   encode/.../stores:non_temporal                           --stores overrides the library
//   encode_repeated/<backend>:<isa>/rows:512/d:512           planned for these rows
//   copy/rows:512/d:512                                      the table, kept elsewhere and copied
//   limit/store/bytes:1048576                                the limit (baselines.h)
//   encode_fresh/<backend>:<isa>/memory:vector/...           new memory (fresh_memory.h)
//   positions/<backend>:<isa>/first:1e12/rows:200/d:512      what slows encoding down, and widths/,
//                                                            strides/ ... (slowdowns.h)

#include "baselines.h"
#include "checked_encoder.h"
#include "fresh_memory.h"
#include "options.h"
#include "peers.h"
#include "program.h"
#include "provenance.h"
#include "slowdowns.h"
#include "table_shape.h"
#include "warm_memory.h"

#include "cli/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

/// What the command line says of every table.
struct TableOptions {
  StorePolicy stores;
  DataType type;
};

void add_encode(const Backend& backend, const TableShape& shape, StorePolicy stores,
                PlannedRows rows = PlannedRows::any) {
  if (!backend.plan({.d_model = 2})->supports(shape.type)) return;
  const auto body = [=](benchmark::State& state, const Encoder& encoder) {
    const OutputView view = view_of(shape, warm_memory(shape.span_bytes()));
    for (auto _ : state) {
      encoder.encode(shape.rows, view, {1, stores});
      benchmark::ClobberMemory();
    }
    count_elements_and_bytes(state, shape);
  };
  add_checked(fmt::format("{}/{}/{}{}", rows == PlannedRows::any ? "encode" : "encode_repeated",
                          backend.full_name(), to_string(shape), suffix_of(stores)),
              backend, shape, body, {share_of_limit(shape.bytes())}, Clock::thread, rows);
}

using Backends = std::vector<const Backend*>;

void add_all(const Backends& backends, const TableShape& shape, const TableOptions& options) {
  begin_group();
  for (const Backend* backend : backends)
    add_encode(*backend, with_type_of(shape, options.type), options.stores);
}

void add_presets(const Backends& backends, const TableOptions& options) {
  for (const Preset& preset : presets()) add_all(backends, shape_of(preset), options);
  for (const Preset& each : benchmark_shapes()) add_all(backends, shape_of(each), options);
}

void add_sweep(const Backends& backends, const TableOptions& options) {
  for (const std::int64_t d_model : {64, 512}) {
    for (const std::int64_t bytes : swept_bytes())
      add_all(backends, shape_of(bytes / 4 / d_model, d_model), options);
  }
}

void add_cache_to_memory(const Backends& backends, const TableOptions& options) {
  for (const TableShape& shape : cache_to_memory_shapes()) {
    add_all(leave_out_slow(best_isa_only(backends), shape), shape, options);
    const TableShape copied = with_type_of(shape, options.type);
    add_copy(fmt::format("copy/{}", to_string(copied)), copied.bytes(),
             {share_of_limit(copied.bytes())});
  }
}

/// Calls that check no rounding, beside those that do, and copies.
void add_repeated(const Backends& backends, const TableOptions& options) {
  for (const TableShape& shape : cache_to_memory_shapes()) {
    const TableShape typed = with_type_of(shape, options.type);
    begin_group();
    for (const Backend* backend : leave_out_slow(best_isa_only(backends), shape)) {
      if (!backend->plan({.d_model = 2})->is_correctly_rounded(typed.type)) continue;
      add_encode(*backend, typed, options.stores);
      add_encode(*backend, typed, options.stores, PlannedRows::repeated);
    }
    add_copy(fmt::format("copy/{}", to_string(typed)), typed.bytes(),
             {share_of_limit(typed.bytes())});
  }
}

void add_fresh(const Backends& backends, const TableOptions& options) {
  for (const TableShape& shape : {shape_of(512, 512), shape_of(5000, 512), shape_of(8192, 4096)}) {
    add_fresh_memory(leave_out_slow(best_isa_only(backends), shape),
                     with_type_of(shape, options.type), options.stores);
  }
}

/// The same tables in every type, whatever --dtype says: half the bytes should take half the time
/// if memory decides.
void add_dtypes(const Backends& backends, const TableOptions& options) {
  for (const TableShape& shape :
       {shape_of(512, 512), shape_of(131072, 128), shape_of(8192, 4096)}) {
    for (const DataType type : all_data_types) {
      add_all(leave_out_slow(best_isa_only(backends), shape), shape, {options.stores, type});
    }
  }
}

const std::vector<std::pair<std::string, void (*)(const Backends&, const TableOptions&)>> sets = {
    {"presets", add_presets},
    {"sweep", add_sweep},
    {"cache-to-memory", add_cache_to_memory},
    {"dtypes", add_dtypes},
    {"fresh", add_fresh},
    {"repeated", add_repeated},
    {"slowdowns",
     [](const Backends& backends, const TableOptions& options) {
       add_slowdowns(best_isa_only(backends), options.stores, options.type);
     }},
};

const std::map<std::string, StorePolicy> stores_by_name = {
    {"automatic", StorePolicy::automatic},
    {"cached", StorePolicy::cached},
    {"non_temporal", StorePolicy::non_temporal}};

struct Options {
  bool quick = false;
  bool all = false;
  std::vector<std::string> sets;
  std::vector<std::string> presets;
  BackendChoice choice;
  std::string stores = "automatic";
  std::string type = "float32";
  bool with_peers = false;
};

/// Peers join the backends. The header names those that this build lacks, so that nobody takes
/// them for beaten.
void add_peers() {
  peers::register_peers();
  const auto count = std::ranges::count_if(best_isa_only(backends()),
                                           [](auto* each) { return !each->can_be_picked(); });
  add_header_line(
      "peers",
      fmt::format("{} other libraries and methods, not part of the library, cannot be picked",
                  count));
  std::vector<std::string> missing;
  for (const auto& each : peers::missing_peers())
    missing.push_back(fmt::format("{}: {}", each.names, each.reason));
  if (!missing.empty()) add_header_line("without", fmt::format("{}", fmt::join(missing, "; ")));
}

void add_quick(const Backends& backends, const std::vector<std::string>& presets,
               const TableOptions& options) {
  // One name for each size of table: other presets differ in layout or spacing, which cost next to
  // nothing.
  const std::vector<std::string> sizes = {"chunk",   "model_garden", "m2m_100", "tutorial",
                                          "whisper", "long_context", "wide"};
  for (const Preset& preset : select_presets(presets.empty() ? sizes : presets)) {
    const TableShape shape = shape_of(preset);
    add_all(leave_out_slow(best_isa_only(backends), shape), shape, options);
  }
}

void register_all(const Options& options) {
  if (options.with_peers) add_peers();
  const Backends backends = select_backends(options.choice);
  const TableOptions table = {stores_by_name.at(options.stores), parse_data_type(options.type)};
  const bool has_choice = options.all || !options.sets.empty() || !options.presets.empty();
  if (options.quick || !has_choice) return add_quick(backends, options.presets, table);
  for (const Preset& preset : select_presets(options.presets))
    add_all(backends, shape_of(preset), table);
  for (const auto& [name, add_set] : sets) {
    if (options.all || std::ranges::count(options.sets, name) > 0) add_set(backends, table);
  }
}

/// What is registered. A filter cannot say it: the sets share names, the best ISA differs between
/// machines, and a backend is planned and estimated before a name is there to be filtered.
void add_selecting_options(CLI::App& app, Options& options) {
  CLI::Option* const quick = app.add_flag(
      "--quick", options.quick,
      "Seven tables of different sizes, or those of --preset, best ISAs only; about a minute. "
      "The default if nothing is chosen");
  CLI::Option* const all =
      app.add_flag("--all", options.all, "Every set of --set")->excludes(quick);
  std::vector<std::string> names;
  for (const auto& each : sets) names.push_back(each.first);
  CLI::Option* const set =
      app.add_option("--set", options.sets,
                     fmt::format("Only these benchmarks; may be repeated: {}. presets and sweep at "
                                 "every ISA, the others at the best. cache-to-memory: the shapes "
                                 "that speeds are quoted for; repeated: planned for their rows; "
                                 "slowdowns: what position, width, stride, alignment, planning and "
                                 "threads cost",
                                 fmt::join(names, ", ")))
          ->type_name("NAME")
          ->excludes(quick)
          ->excludes(all)
          ->allow_extra_args(false);
  allow_only(*set, names);
  app.add_option("--preset", options.presets,
                 "Only this preset, or the shape chunk, long_context or wide, at every ISA; may be "
                 "repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_backend_options(app, options.choice);
  app.add_flag("--peers", options.with_peers,
               "Other libraries and methods too: SLEEF, Highway, Eigen, libmvec, ggml's "
               "recurrence, a cached copy ...");
}

/// How tables are written.
void add_table_options(CLI::App& app, Options& options) {
  CLI::Option* const stores =
      app.add_option("--stores", options.stores,
                     "How tables are stored, instead of as the library chooses")
          ->type_name("NAME");
  allow_only(*stores, {"automatic", "cached", "non_temporal"});
  app.add_option("--dtype", options.type,
                 "Elements of the tables: " + cli::names_text(all_data_types))
      ->type_name("NAME");
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using namespace posenc::bench;
  Options options;
  const auto add_options = [&](CLI::App& app) {
    add_selecting_options(app, options);
    add_table_options(app, options);
  };
  return run(
      argc, argv,
      {.name = "bench_encode",
       .description = "Times the encoders of all backends: presets, sizes from L1 to memory, "
                      "element types, fresh memory, and what slows them down.",
       .add_options = add_options,
       .register_benchmarks = [&] { register_all(options); }});
}
