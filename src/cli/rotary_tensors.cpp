#include "cli/rotary_tensors.h"

#include <fmt/format.h>

#include <cstdint>

namespace posenc::cli {
namespace {

Tensor tensor_of_both(const std::shared_ptr<const Rotary>& rotary, RotaryLayout layout,
                      int threads) {
  return {"rotary_cache", rotary->dimension(),
          [=](const RowPositions& positions, const OutputView& out) {
            rotary->cache(positions, layout, out, threads);
          }};
}

/// Cosines or sines. The library computes both, and the others are not kept.
Tensor tensor_of_one(const std::shared_ptr<const Rotary>& rotary, bool is_cosines, Repeat repeat,
                     int threads) {
  const std::int64_t columns = rotary->dimension() / (repeat == Repeat::once ? 2 : 1);
  return {is_cosines ? "cosines" : "sines", columns,
          [=](const RowPositions& positions, const OutputView& out) {
            with_type(out.type, [&]<class T>(T) {
              BasicMatrix<T> others(positions.count(), columns);
              const OutputView rest = others.view();
              rotary->cosines_and_sines(positions, repeat, is_cosines ? out : rest,
                                        is_cosines ? rest : out, threads);
            });
          }};
}

}  // namespace

std::vector<Tensor> rotary_tensors(const std::shared_ptr<const Rotary>& rotary,
                                   const RotaryOptions& options, int threads) {
  const RotaryTables tables = options.tables.value();
  const bool is_one_table = tables == RotaryTables::halves || tables == RotaryTables::interleaved;
  if (is_one_table && options.repeat) {
    throw InvalidArgument(
        fmt::format("--repeat is given with --rotary {}; allowed with cosines, sines and apart",
                    to_string(tables)));
  }
  if (is_one_table) {
    const RotaryLayout layout =
        tables == RotaryTables::halves ? RotaryLayout::halves : RotaryLayout::interleaved;
    return {tensor_of_both(rotary, layout, threads)};
  }
  std::vector<Tensor> tensors;
  const Repeat repeat = options.repeat.value_or(Repeat::once);
  for (const bool is_cosines : {true, false}) {
    if (tables == (is_cosines ? RotaryTables::sines : RotaryTables::cosines)) continue;
    tensors.push_back(tensor_of_one(rotary, is_cosines, repeat, threads));
  }
  return tensors;
}

}  // namespace posenc::cli
