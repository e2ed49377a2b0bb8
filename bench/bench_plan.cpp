// What does set-up cost, where does its time go, and when does it matter?
//
//   plan/<backend>:<isa>/d:512/spacing:paper        planning, and destroying the encoder
//   frequencies/d:512/spacing:paper                 the exact frequencies alone, which xsimd,
//                                                   rotation32 and rotation plan first
//   plan_and_encode/<backend>:<isa>/rows:100/d:20   a small table from nothing, for programs that
//                                                   plan every time

#include "baselines.h"
#include "checked_encoder.h"
#include "options.h"
#include "program.h"
#include "warm_memory.h"

#include "posenc/exact/frequency.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {
namespace {

std::string suffix(const EncodingSpec& spec) {
  return fmt::format("d:{}/spacing:{}", spec.d_model, to_string(spec.spacing));
}

void add_frequencies(const EncodingSpec& spec) {
  const auto body = [spec](benchmark::State& state) {
    for (auto _ : state) {
      const Frequencies frequencies(spec);
      const auto* first = &frequencies[0];
      benchmark::DoNotOptimize(first);
      benchmark::ClobberMemory();
    }
  };
  add("frequencies/" + suffix(spec), body, {in_naive_rows(spec.d_model)});
}

void add_plan(const Backend& backend, const EncodingSpec& spec) {
  const auto body = [&backend, spec](benchmark::State& state, const Encoder&) {
    for (auto _ : state) {
      const auto encoder = backend.plan(spec);
      const Encoder* planned = encoder.get();
      benchmark::DoNotOptimize(planned);
      benchmark::ClobberMemory();
    }
  };
  add_checked(fmt::format("plan/{}/{}", backend.full_name(), suffix(spec)), backend,
              {{}, spec, {0, 100}}, body, {in_naive_rows(spec.d_model)});
}

std::string plan_and_encode_name(const Backend& backend, const TableShape& shape) {
  return fmt::format("plan_and_encode/{}/{}", backend.full_name(), to_string(shape));
}

void add_plan_and_encode(const Backend& backend, const TableShape& shape) {
  const auto body = [&backend, shape](benchmark::State& state, const Encoder&) {
    const OutputView view = view_of(shape, warm_memory(shape.bytes()));
    for (auto _ : state) {
      backend.plan(shape.spec)->encode(shape.rows, view);
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * shape.elements());
  };
  const std::string naive = plan_and_encode_name(posenc::backend("naive"), shape);
  add_checked(plan_and_encode_name(backend, shape), backend, shape, body,
              {{"times_naive", {naive}}});
}

void register_all(const BackendChoice& choice) {
  const std::vector<const Backend*> backends = select_backends(choice);
  for (const std::int64_t d_model : {20, 512, 4096}) {
    begin_group();
    for (const Spacing spacing : {Spacing::paper, Spacing::inclusive}) {
      const EncodingSpec spec = {.d_model = d_model, .spacing = spacing};
      add_frequencies(spec);
      for (const Backend* backend : backends) add_plan(*backend, spec);
    }
  }
  begin_group();
  const TableShape small = shape_of(100, 20);
  add_plan_and_encode(posenc::backend("naive"), small);  // the baseline, chosen or not
  for (const Backend* backend : backends) add_plan_and_encode(*backend, small);
}

constexpr std::string_view notes =
    "naive rows: the time over that of one row of naive, of the same width and at random "
    "positions\n"
    "times naive: how many times faster than naive\n"
    "frequencies: what xsimd, rotation32 and rotation plan first; xsimd plans little else, "
    "rotation its tables too\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using namespace posenc::bench;
  BackendChoice choice;
  return run(argc, argv,
             {.name = "bench_plan",
              .description = "Times planning: every backend over widths and spacings, and a small "
                             "table planned and encoded.",
              .notes = notes,
              .add_options = [&](CLI::App& app) { add_backend_options(app, choice); },
              .register_benchmarks = [&] { register_all(choice); }});
}
