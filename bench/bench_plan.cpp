// What does set-up cost, and when does it matter?
//
//   plan/<backend>:<isa>/d:512/spacing:paper         planning alone, the encoder's destruction included
//   plan_and_encode/<backend>:<isa>/rows:100/d:20    a small table from nothing, as one who plans every time pays for it

#include "selection.h"
#include "support.h"

#include <fmt/format.h>

namespace posenc::bench {
namespace {

void add_plan(const Backend& backend, const EncodingSpec& spec) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, spec, RowRange{0, 100});
  add(fmt::format("plan/{}/d:{}/spacing:{}", backend.full_name(), spec.d_model, to_string(spec.spacing)),
      [checked, &backend, spec](benchmark::State& state) {
        if (checked->get(state) == nullptr) return;
        for (auto _ : state) {
          const auto encoder = backend.plan(spec);
          benchmark::DoNotOptimize(encoder.get());
          benchmark::ClobberMemory();
        }
      });
}

void add_plan_and_encode(const Backend& backend, const EncodingSpec& spec, RowRange rows) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, spec, rows);
  add(fmt::format("plan_and_encode/{}/rows:{}/d:{}", backend.full_name(), rows.count, spec.d_model),
      [checked, &backend, spec, rows](benchmark::State& state) {
        if (checked->get(state) == nullptr) return;
        const std::int64_t elements = rows.count * spec.d_model;
        MatrixView<float> view = {warm_memory(4 * elements), rows.count, spec.d_model, spec.d_model};
        for (auto _ : state) {
          backend.plan(spec)->encode(rows, view);
          benchmark::DoNotOptimize(view.data);
          benchmark::ClobberMemory();
        }
        state.SetItemsProcessed(state.iterations() * elements);
        state.SetBytesProcessed(state.iterations() * elements * 4);
      });
}

void register_all(const std::vector<std::string>& names) {
  const std::vector<const Backend*> backends = select_backends(names);
  for (const std::int64_t d_model : {20, 64, 512, 1280, 4096}) {
    for (const Spacing spacing : {Spacing::paper, Spacing::inclusive}) {
      for (const Backend* backend : backends) add_plan(*backend, {.d_model = d_model, .spacing = spacing});
    }
  }
  for (const Backend* backend : backends) add_plan_and_encode(*backend, {.d_model = 20}, {0, 100});
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  CLI::App app("Times planning: every backend over widths and spacings, and a small table planned and encoded.",
               "bench_plan");
  std::vector<std::string> backends;
  app.add_option("--backend", backends, "Only this backend, such as rotation or rotation:avx2; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  return posenc::bench::run(argc, argv, app, [&backends] { posenc::bench::register_all(backends); });
}
