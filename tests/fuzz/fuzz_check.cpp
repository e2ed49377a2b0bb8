// posenc::check::table() and check::heads() with random tables, heads, claims and positions. What
// they do not refuse with an InvalidArgument has a verdict that its own figures do not contradict,
// and takes no longer than the limit of a run.
#include "arena.h"

#include "posenc/check/heads.h"
#include "posenc/check/table.h"
#include "posenc/model/rotary.h"
#include "posenc/registry.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace posenc::fuzz {

using namespace check;
using namespace model;
using namespace suite;
namespace {

/// Near zero, near the ends of what is allowed, and beyond.
std::int64_t position(FuzzedDataProvider& input) {
  constexpr std::int64_t ends[] = {0, max_position, std::int64_t{1} << 54,
                                   std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min()};
  const std::int64_t near = input.ConsumeIntegralInRange<std::int64_t>(-3, 3);
  std::int64_t sum = 0;
  return __builtin_add_overflow(input.PickValueInArray(ends), near, &sum)
             ? input.ConsumeIntegralInRange<std::int64_t>(-5000, 5000)
             : sum;
}

EncodingSpec spec_of(FuzzedDataProvider& input, std::int64_t d_model) {
  EncodingSpec spec = {.d_model = d_model};
  spec.base = input.PickValueInArray({1e4, 5e5, 1.0001, 0.0, 1e300});
  spec.spacing = input.PickValueInArray({Spacing::paper, Spacing::inclusive});
  spec.layout = static_cast<Layout>(input.ConsumeIntegralInRange(0, 2));
  if (input.ConsumeBool())
    spec.frequencies = LinearScaling{input.PickValueInArray({1.0, 4.0, 0x1p53, 1e-3, 0.0})};
  return spec;
}

/// A table that is right, or nearly, or noise.
Matrix table_of(FuzzedDataProvider& input, std::int64_t rows, std::int64_t columns) {
  Matrix table(rows, columns);
  std::fill_n(table.data(), rows * columns, 0.0F);
  if (columns % 2 == 0 && input.ConsumeBool()) {
    try {
      const std::int64_t first = input.ConsumeIntegralInRange<std::int64_t>(-100, 100);
      backend("rotation")
          .plan(spec_of(input, columns))
          ->encode(RowRange{first, rows}, table.view());
    } catch (const InvalidArgument&) {
    }
  }
  for (int i = input.ConsumeIntegralInRange(0, 12); i > 0; --i) {
    const auto row = input.ConsumeIntegralInRange<std::int64_t>(0, rows - 1),
               column = input.ConsumeIntegralInRange<std::int64_t>(0, columns - 1);
    table(row, column) =
        input.PickValueInArray({0.5F, -1.0F, 1e30F, std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity()});
  }
  return table;
}

void fuzz_table(FuzzedDataProvider& input, Arena& /*arena*/) {
  const auto rows = input.ConsumeIntegralInRange<std::int64_t>(1, 40),
             columns = input.ConsumeIntegralInRange<std::int64_t>(1, 36);
  const Matrix table = table_of(input, rows, columns);
  check::TableOptions options;
  if (input.ConsumeBool())
    options.spec = spec_of(input, input.PickValueInArray<std::int64_t>({0, columns, 2 * columns}));
  options.claimed = {.base = input.ConsumeBool(), .spacing = input.ConsumeBool()};
  if (input.ConsumeBool())
    options.arrangements = {static_cast<Arrangement>(input.ConsumeIntegralInRange(0, 10))};
  if (input.ConsumeBool()) options.excluded = {Arrangement::cosines_repeated};
  if (input.ConsumeBool()) options.first = position(input);
  if (input.ConsumeBool())
    for (std::int64_t row = 0; row < rows; ++row) options.positions.push_back(position(input));
  if (input.ConsumeBool()) options.factor = input.PickValueInArray({1.0, 1.2, 0.0, -1.0});
  if (input.ConsumeBool()) options.max_error = input.PickValueInArray({1e-3, 0.0, 1e9});
  options.threads = input.ConsumeIntegralInRange(0, 2);
  try {
    const check::TableReport report = check::table(table.view(), options);
    if (report.is_good && (!report.is_identified || report.entries_off != 0))
      fail("a table is right and not right");
    if (report.is_good && report.entries_not_finite != 0) fail("NaN is right");
    if (report.is_identified && to_string(report).empty()) fail("a verdict without words");
  } catch (const InvalidArgument&) {
  }
}

void fuzz_heads(FuzzedDataProvider& input, Arena& /*arena*/) {
  const auto rows = input.ConsumeIntegralInRange<std::int64_t>(1, 6),
             heads = input.ConsumeIntegralInRange<std::int64_t>(1, 3),
             channels = input.ConsumeIntegralInRange<std::int64_t>(1, 24);
  std::vector<float> before, after;
  for (std::int64_t i = 0; i < rows * heads * channels; ++i) {
    before.push_back(input.PickValueInArray({1.0F, -0.5F, 0.0F, 2.0F}));
    after.push_back(input.ConsumeBool() ? before.back() : input.PickValueInArray({0.3F, 1e30F}));
  }
  const auto table = [&](const std::vector<float>& from) {
    return HeadsTable{
        from.data(), DataType::float32, {rows, heads, channels}, {heads * channels, channels, 1}};
  };
  try {
    const EncodingSpec spec = spec_of(input, 2 * input.ConsumeIntegralInRange<std::int64_t>(0, 12));
    const RotarySpec rotary = rotary_spec(spec);
    const check::HeadsReport report =
        check::heads(table(before), table(after), rotary, {.first = position(input)});
    if (report.is_good && report.angles_off != 0) fail("heads are right and not right");
    if (to_string(report).empty()) fail("a verdict without words");
  } catch (const InvalidArgument&) {
  }
}

}  // namespace
}  // namespace posenc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace posenc::fuzz;
  return fuzz_one_of({fuzz_table, fuzz_heads}, data, size);
}
