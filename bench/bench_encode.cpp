// How fast does each backend encode, and how far is that from what the memory system allows?
//
//   encode/<backend>:<isa>/preset:whisper/rows:1500/d:1280     the shapes of real systems, into
//   warm memory encode/<backend>:<isa>/rows:512/d:512                      sizes from L1 to memory
//   encode/.../d:512/dtype:float16                             tables of other types than float32
//   encode/.../stores:non_temporal                                 where --stores overrides the
//   library's choice copy/rows:512/d:512                                        the same table,
//   kept elsewhere and copied encode_fresh/<backend>:<isa>/memory:vector/...             memory
//   that the system has just given (encode_fresh.h)
//   positions/<backend>:<isa>/first:1e12/rows:200/d:512        where speeds fall off; widths/,
//   strides/ ... (cliffs.h)

#include "cliffs.h"
#include "encode_fresh.h"
#include "limit.h"
#include "peers.h"
#include "selection.h"
#include "shape.h"
#include "support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace posenc::bench {
namespace {

/// What the command line says of every table.
struct How {
  StorePolicy stores;
  DataType type;
};

void explain_limit() {
  add_header_line("limit",
                  "the faster of a plain and a non-temporal store loop over the same bytes");
}

void add_encode(const Backend& backend, const Shape& shape, StorePolicy stores) {
  if (!backend.plan({.d_model = 2})->supports(shape.type)) return;
  explain_limit();
  const auto checked =
      std::make_shared<CheckedEncoder>(backend, shape.spec, shape.rows, shape.type);
  const std::string name =
      fmt::format("encode/{}/{}{}", backend.full_name(), to_string(shape), suffix_of(stores));
  add(name, [checked, shape, stores](benchmark::State& state) {
    const Encoder* const encoder = checked->get(state);
    if (encoder == nullptr) return;
    const double limit = limit_bytes_per_second(warm_memory(shape.bytes()), shape.bytes());
    OutputView view = view_of(shape, warm_memory(shape.span_bytes()));
    for (auto _ : state) {
      encoder->encode(shape.rows, view, {1, stores});
      benchmark::DoNotOptimize(view.data);
      benchmark::ClobberMemory();
    }
    count(state, shape);
    compare_with_limit(state, shape.bytes(), limit);
  });
}

void add_copy(const Shape& shape) {
  explain_limit();
  add(fmt::format("copy/{}", to_string(shape)), [shape](benchmark::State& state) {
    const double limit = limit_bytes_per_second(warm_memory(shape.bytes()), shape.bytes());
    time_copy(state, shape.bytes());
    compare_with_limit(state, shape.bytes(), limit);
  });
}

using Backends = std::vector<const Backend*>;

Shape typed(Shape shape, DataType type) {
  shape.type = type;
  return shape;
}

void add_all(const Backends& backends, const Shape& shape, const How& how) {
  begin_group();
  for (const Backend* backend : backends) add_encode(*backend, typed(shape, how.type), how.stores);
}

void add_presets(const Backends& backends, const How& how) {
  for (const Preset& preset : presets()) add_all(backends, shape_of(preset), how);
  for (const Preset& each : benchmark_shapes()) add_all(backends, shape_of(each), how);
}

void add_sweep(const Backends& backends, const How& how) {
  for (const std::int64_t d_model : {64, 512}) {
    for (const std::int64_t bytes : swept_bytes())
      add_all(backends, shape_of(bytes / 4 / d_model, d_model), how);
  }
}

void add_cache_to_memory(const Backends& backends, const How& how) {
  for (const Shape& shape : cache_to_memory_shapes()) {
    add_all(leave_out_slow(best_isa_only(backends), shape), shape, how);
    add_copy(typed(shape, how.type));
  }
}

void add_fresh(const Backends& backends, const How& how) {
  for (const Shape& shape : {shape_of(512, 512), shape_of(5000, 512), shape_of(8192, 4096)}) {
    add_encode_fresh(leave_out_slow(best_isa_only(backends), shape), shape, how.stores);
  }
}

/// The same tables in every type, whatever --dtype says: half the bytes should take half the time
/// where memory decides.
void add_dtypes(const Backends& backends, const How& how) {
  for (const Shape& shape : {shape_of(512, 512), shape_of(131072, 128), shape_of(8192, 4096)}) {
    for (const DataType type : all_data_types) {
      add_all(leave_out_slow(best_isa_only(backends), shape), shape, {how.stores, type});
    }
  }
}

const std::vector<std::pair<std::string, void (*)(const Backends&, const How&)>> sets = {
    {"presets", add_presets},
    {"sweep", add_sweep},
    {"cache-to-memory", add_cache_to_memory},
    {"dtypes", add_dtypes},
    {"fresh", add_fresh},
    {"cliffs",
     [](const Backends& backends, const How& how) {
       add_slowdowns(best_isa_only(backends), how.stores, how.type);
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

/// Peers join the backends; what this build is without is said, so that nobody takes it for beaten.
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

void register_all(const Options& options) {
  if (options.with_peers) add_peers();
  const Backends backends = select_backends(options.choice);
  const How how = {stores_by_name.at(options.stores), parse_data_type(options.type)};
  const auto is_asked_for = [&options](const std::string& set) {
    return std::ranges::find(options.sets, set) != options.sets.end();
  };
  const bool has_choice = options.all || !options.sets.empty() || !options.presets.empty();
  if (options.quick || !has_choice) {
    // One name for each size of table; other presets differ in layout or spacing, which cost next
    // to nothing.
    const std::vector<std::string> sizes = {"chunk",   "model_garden", "m2m_100", "tutorial",
                                            "whisper", "long_context", "wide"};
    for (const Preset& preset : select_presets(options.presets.empty() ? sizes : options.presets)) {
      add_all(leave_out_slow(best_isa_only(backends), shape_of(preset)), shape_of(preset), how);
    }
    return;
  }
  for (const Preset& preset : select_presets(options.presets))
    add_all(backends, shape_of(preset), how);
  for (const auto& [name, add_set] : sets) {
    if (options.all || is_asked_for(name)) add_set(backends, how);
  }
}

std::vector<std::string> set_names() {
  std::vector<std::string> names;
  for (const auto& each : sets) names.push_back(each.first);
  return names;
}

void add_options(CLI::App& app, Options& options) {
  CLI::Option* const quick =
      app.add_flag("--quick", options.quick,
                   "Seven tables of different sizes, or those of --preset, best ISAs only; "
                   "about a minute. What runs where nothing is chosen");
  CLI::Option* const all =
      app.add_flag("--all", options.all, "Every set of --set, at every ISA")->excludes(quick);
  CLI::Option* const set = app.add_option("--set", options.sets,
                                          "Only these benchmarks, at every ISA; may be repeated. "
                                          "cache-to-memory: the shapes that speeds "
                                          "are quoted for; cliffs: where speeds fall off, by "
                                          "position, width, stride, alignment, planning "
                                          "and threads; and presets, sweep, dtypes, fresh")
                               ->type_name("NAME")
                               ->excludes(quick)
                               ->excludes(all)
                               ->allow_extra_args(false);
  allow_only(*set, set_names());
  app.add_option("--preset", options.presets,
                 "Only this preset, or the shape chunk, long_context or wide, at every ISA; may be "
                 "repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_backend_options(app, options.choice);
  app.add_flag("--peers", options.with_peers,
               "Other libraries and methods too: SLEEF, Highway, Eigen, libmvec, ggml's "
               "recurrence, a cached copy ...");
  CLI::Option* const stores =
      app.add_option("--stores", options.stores,
                     "How tables are stored, in the place of the library's choice")
          ->type_name("NAME");
  allow_only(*stores, {"automatic", "cached", "non_temporal"});
  app.add_option("--dtype", options.type,
                 "Elements of the tables: float32, float64, float16 or bfloat16")
      ->type_name("NAME");
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  posenc::bench::Options options;
  const posenc::bench::Program program = {"bench_encode",
                                          "Times the encoders of all backends: presets, sizes from "
                                          "L1 to memory, element types, fresh memory, cliffs."};
  return posenc::bench::run(
      argc, argv, program, [&](CLI::App& app) { posenc::bench::add_options(app, options); },
      [&] { posenc::bench::register_all(options); });
}
