// Encoders with random specs, ranges, gathers and views. An accepted call gives the bits of
// single-row calls, with entries of at most 1, and a refused call writes nothing.
#include "arena.h"

#include "posenc/registry.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

namespace posenc::fuzz {
namespace {

EncodingSpec spec_of(FuzzedDataProvider& input) {
  EncodingSpec spec = {.d_model = Arena::size(input, 40)};
  if (input.ConsumeIntegralInRange(0, 7) != 0) spec.d_model &= ~std::int64_t{1};
  if (input.ConsumeBool()) spec.base = input.ConsumeFloatingPoint<double>();
  spec.layout = input.PickValueInArray(all_layouts);
  spec.spacing = input.PickValueInArray(all_spacings);
  return spec;
}

std::int64_t position_of(FuzzedDataProvider& input) {
  if (input.ConsumeBool()) return Arena::size(input, max_position);
  return input.ConsumeIntegralInRange<std::int64_t>(-100'000, 100'000);
}

void check_row(const Encoder& encoder, std::int64_t position, const float* row) {
  std::vector<float> alone(static_cast<std::size_t>(encoder.spec().d_model));
  const auto columns = encoder.spec().d_model;
  encoder.encode({.first = position, .count = 1}, {alone.data(), 1, columns, columns});
  for (std::size_t c = 0; c < alone.size(); ++c) {
    if (std::bit_cast<std::uint32_t>(alone[c]) != std::bit_cast<std::uint32_t>(row[c]))
      fail("a row depends on its call");
    if (!(std::fabs(row[c]) <= 1.0f)) fail("an entry is beyond 1");
  }
}

}  // namespace
}  // namespace posenc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace posenc;
  using namespace posenc::fuzz;
  Arena arena;
  FuzzedDataProvider input(data, size);
  static const std::vector<const Backend*> all = backends();
  const Backend& chosen = *all[input.ConsumeIntegralInRange<std::size_t>(0, all.size() - 1)];
  const EncodingSpec spec = spec_of(input);
  if (!chosen.runs_here() || spec.d_model > 128) return 0;
  std::unique_ptr<const Encoder> encoder;
  if (!accepted(arena, [&] { encoder = chosen.plan(spec); })) return 0;
  const MatrixView<float> out = arena.matrix(input, spec.d_model);
  if (!arena.harmless(out)) return 0;
  const EncodeOptions options = {
      input.ConsumeIntegralInRange(0, 3),
      input.PickValueInArray(
          {StorePolicy::automatic, StorePolicy::cached, StorePolicy::non_temporal})};
  std::vector<std::int64_t> positions;
  const std::int64_t count = Arena::size(input, 40);
  if (input.ConsumeBool()) {
    const RowRange rows = {position_of(input), count};
    if (!accepted(arena, [&] { encoder->encode(rows, out, options); })) return 0;
    for (std::int64_t r = 0; r < rows.count; ++r) positions.push_back(rows.first + r);
  } else {
    for (std::int64_t r = 0; r < count && r < 50; ++r) positions.push_back(position_of(input));
    if (!accepted(arena, [&] { encoder->encode(positions, out, options); })) return 0;
  }
  for (std::size_t r = 0; r < positions.size(); ++r) {
    check_row(*encoder, positions[r], out.data + static_cast<std::int64_t>(r) * out.stride);
  }
  return 0;
}
