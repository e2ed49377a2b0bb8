// What does set-up cost, where does its time go, and when does it matter?
//
//   plan/<backend>:<isa>/d:512/spacing:paper         planning alone, the encoder's destruction
//                                                    included
//   frequencies/d:512/spacing:paper                  the exact frequencies alone, which xsimd,
//                                                    rotation32 and rotation plan first
//   plan_and_encode/<backend>:<isa>/rows:100/d:20    a small table from nothing, as one who plans
//                                                    every time pays for it

#include "naive_row.h"
#include "selection.h"
#include "support.h"
#include "yardstick.h"

#include "posenc/exact/frequency.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {
namespace {

std::string suffix(const EncodingSpec& spec) {
  return fmt::format("d:{}/spacing:{}", spec.d_model, to_string(spec.spacing));
}

void add_frequencies(const EncodingSpec& spec) {
  add("frequencies/" + suffix(spec), [spec](benchmark::State& state) {
    const double naive_seconds = naive_row_seconds(spec.d_model);
    for (auto _ : state) {
      const Frequencies frequencies(spec);
      const auto* first = &frequencies[0];
      benchmark::DoNotOptimize(first);
      benchmark::ClobberMemory();
    }
    count_naive_rows(state, naive_seconds);
  });
}

void add_plan(const Backend& backend, const EncodingSpec& spec) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, spec, RowRange{0, 100});
  add(fmt::format("plan/{}/{}", backend.full_name(), suffix(spec)),
      [checked, &backend, spec](benchmark::State& state) {
        if (checked->get(state) == nullptr) return;
        const double naive_seconds = naive_row_seconds(spec.d_model);
        for (auto _ : state) {
          const auto encoder = backend.plan(spec);
          const Encoder* planned = encoder.get();
          benchmark::DoNotOptimize(planned);
          benchmark::ClobberMemory();
        }
        count_naive_rows(state, naive_seconds);
      });
}

void add_plan_and_encode(const Backend& backend, const EncodingSpec& spec, RowRange rows,
                         const std::shared_ptr<Yardstick>& naive_yardstick) {
  const auto checked = std::make_shared<CheckedEncoder>(backend, spec, rows);
  add(fmt::format("plan_and_encode/{}/rows:{}/d:{}", backend.full_name(), rows.count, spec.d_model),
      [checked, &backend, spec, rows, naive_yardstick](benchmark::State& state) {
        if (checked->get(state) == nullptr) return;
        const std::int64_t elements = rows.count * spec.d_model;
        MatrixView<float> view = {warm_memory(4 * elements), rows.count, spec.d_model,
                                  spec.d_model};
        const Backend& naive = posenc::backend("naive");
        const double naive_seconds =
            naive_yardstick->seconds([&] { naive.plan(spec)->encode(rows, view); });
        for (auto _ : state) {
          backend.plan(spec)->encode(rows, view);
          benchmark::DoNotOptimize(view.data);
          benchmark::ClobberMemory();
        }
        state.SetItemsProcessed(state.iterations() * elements);
        count_times_naive(state, naive_seconds);
      });
}

void register_all(const BackendChoice& choice) {
  const std::vector<const Backend*> backends = select_backends(choice);
  for (const std::int64_t d_model : {20, 512, 4096}) {
    for (const Spacing spacing : {Spacing::paper, Spacing::inclusive}) {
      const EncodingSpec spec = {.d_model = d_model, .spacing = spacing};
      begin_group();
      add_frequencies(spec);
      for (const Backend* backend : backends) add_plan(*backend, spec);
    }
  }
  begin_group();
  const auto naive_yardstick = std::make_shared<Yardstick>();
  for (const Backend* backend : backends)
    add_plan_and_encode(*backend, {.d_model = 20}, {0, 100}, naive_yardstick);
}

constexpr std::string_view notes =
    "naive rows: the time in units of naive's for one row of that width, at random positions below "
    "2^20\n"
    "times naive: the time of naive for the same over the time here\n"
    "frequencies: what xsimd, rotation32 and rotation plan first; xsimd plans little else, "
    "rotation its tables too\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  posenc::bench::BackendChoice choice;
  const posenc::bench::Program program = {"bench_plan",
                                          "Times planning: every backend over widths and spacings, "
                                          "and a small table planned and encoded.",
                                          posenc::bench::notes};
  const auto add_options = [&](CLI::App& app) { posenc::bench::add_backend_options(app, choice); };
  return posenc::bench::run(argc, argv, program, add_options,
                            [&] { posenc::bench::register_all(choice); });
}
