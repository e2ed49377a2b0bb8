// Encoders with random specs, ranges, gathers and views. An accepted call gives the bits of
// single-row calls, with entries of at most 1, and a refused call writes nothing.
#include "arena.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/registry.h"
#include "posenc/support/format.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace posenc::fuzz {
namespace {

/// The text of a rule, whose parameters may have any value.
std::string rule_of(FuzzedDataProvider& input) {
  if (input.ConsumeBool()) return input.ConsumeRandomLengthString(60);
  constexpr const char* rules[] = {"base",
                                   "own:values=",
                                   "linear:factor=",
                                   "ntk:factor=",
                                   "longrope:attention_factor=1,factors=",
                                   "yarn:factor=4,trained_rows=",
                                   "yarn:truncate=false,beta_slow=",
                                   "llama3:high_frequency_factor=",
                                   "proportional:turned=",
                                   "turns:denominators=7/7,numerators=",
                                   "base_turns:numerator="};
  std::string text = input.PickValueInArray(rules);
  for (int count = input.ConsumeIntegralInRange(0, 20); count > 0; --count) {
    const double value = input.ConsumeBool() ? input.ConsumeIntegralInRange(-10, 10000)
                                             : input.ConsumeFloatingPoint<double>();
    text += format_text("{}{}", value, count > 1 ? "/" : "");
  }
  return text;
}

EncodingSpec spec_of(FuzzedDataProvider& input) {
  EncodingSpec spec = {.d_model = Arena::size(input, 40)};
  if (input.ConsumeIntegralInRange(0, 7) != 0) spec.d_model &= ~std::int64_t{1};
  if (input.ConsumeBool()) spec.base = input.ConsumeFloatingPoint<double>();
  spec.layout = input.PickValueInArray(all_layouts);
  spec.spacing = input.PickValueInArray(all_spacings);
  if (input.ConsumeBool()) spec.frequencies = parse_frequency_rule(rule_of(input));
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
  EncodingSpec spec;
  if (!accepted(arena, [&] { spec = spec_of(input); })) return 0;
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
