// The functions of the layers with random arguments. An accepted call gives the values of its
// definition or, for gradients, caches and axes, stays in its views. A refused call writes nothing.
#include "arena.h"

#include "posenc/model/grid.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace posenc::fuzz {

using namespace model;
namespace {

constexpr std::int64_t max_rows = 64;
constexpr std::array<std::int64_t, 5> widths = {2, 4, 6, 34, 64};

const PositionalEncoding& layer(std::size_t width, bool cached) {
  static const std::vector<PositionalEncoding> all = [] {
    std::vector<PositionalEncoding> made;
    for (const std::int64_t d_model : widths) {
      for (const EncodingSource source : {EncodingSource::fused, EncodingSource::cached}) {
        made.emplace_back(EncodingSpec{.d_model = d_model}, max_rows, 0.3, source);
      }
    }
    return made;
  }();
  return all[2 * width + (cached ? 1 : 0)];
}

ForwardOptions options_of(FuzzedDataProvider& input) {
  return {.offset = Arena::size(input, max_rows),
          .training = input.ConsumeBool(),
          .seed = input.ConsumeIntegral<std::uint64_t>(),
          .threads = input.ConsumeIntegralInRange(0, 3)};
}

/// Compares y with dropout(in(b, r, c) + PE), element by element.
template <class Input>
void check(const PositionalEncoding& encoding, const SequenceView<float>& y,
           const ForwardOptions& options, const Input& in) {
  std::vector<float> row(static_cast<std::size_t>(y.columns));
  for (std::int64_t r = 0; r < y.rows && y.batch > 0; ++r) {
    encoding.encoder().encode({.first = options.offset + r, .count = 1},
                              {row.data(), 1, y.columns, y.columns});
    for (std::int64_t b = 0; b < y.batch; ++b) {
      const std::int64_t index =
          y.order == BatchOrder::batch_first ? b * y.rows + r : r * y.batch + b;
      for (std::int64_t c = 0; c < y.columns; ++c) {
        const auto element = static_cast<std::uint64_t>(index * y.columns + c);
        float expected = in(b, r, c) + row[static_cast<std::size_t>(c)];
        if (options.training) {
          const Dropout& dropout = encoding.dropout();
          expected = dropout.keeps(*options.seed, element) ? expected * dropout.scale() : 0.0f;
        }
        const float got = y.data[b * y.batch_stride + r * y.row_stride + c];
        if (std::bit_cast<std::uint32_t>(got) != std::bit_cast<std::uint32_t>(expected))
          fail("y is not dropout(x + PE)");
      }
    }
  }
}

void fuzz_forward(FuzzedDataProvider& input, Arena& arena) {
  const auto width = input.ConsumeIntegralInRange<std::size_t>(0, widths.size() - 1);
  const PositionalEncoding& encoding = layer(width, input.ConsumeBool());
  const auto x = arena.sequences(input, widths[width]);
  auto y = x;
  if (input.ConsumeBool()) y = arena.sequences(input, widths[width]);
  if (input.ConsumeBool())
    y.data = arena.data() + input.ConsumeIntegralInRange<std::int64_t>(0, Arena::floats);
  const ForwardOptions options = options_of(input);
  if (!arena.harmless(x) || !arena.harmless(y)) return;
  const std::vector<float> before = arena.memory();
  if (!accepted(arena, [&] { encoding.forward(x, y, options); })) return;
  const std::ptrdiff_t begin = x.data == nullptr ? 0 : x.data - arena.data();
  check(encoding, y, options, [&](std::int64_t b, std::int64_t r, std::int64_t c) {
    return before[static_cast<std::size_t>(begin + b * x.batch_stride + r * x.row_stride + c)];
  });
  accepted(arena, [&] { encoding.backward(y, options); });
}

/// Usually as many positions as heads have rows, or rows of all sequences.
std::vector<std::int64_t> positions_for(FuzzedDataProvider& input, const HeadsView& x) {
  const bool small = x.batch >= 0 && x.batch <= 3 && x.rows >= 0 && x.rows <= 8;
  std::int64_t count = input.ConsumeIntegralInRange<std::int64_t>(0, 20);
  if (small && input.ConsumeIntegralInRange(0, 15) != 0)
    count = input.ConsumeBool() ? x.rows : x.batch * x.rows;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  for (std::int64_t& each : positions) each = Arena::size(input, 1000);
  return positions;
}

/// Compares heads that were turned with the same heads, turned one row at a time from `before`.
void check_turned(const Rotary& rotary, const Arena& arena, std::vector<float> before,
                  const HeadsView& x, const std::vector<std::int64_t>& positions, bool inverse) {
  if (x.batch == 0 || x.heads == 0 || x.rows == 0) return;
  const std::ptrdiff_t begin = static_cast<float*>(x.data) - arena.memory().data();
  const bool own = static_cast<std::int64_t>(positions.size()) != x.rows;
  for (std::int64_t b = 0; b < x.batch; ++b) {
    for (std::int64_t r = 0; r < x.rows; ++r) {
      const HeadsView row(before.data() + begin + b * x.batch_stride + r * x.row_stride,
                          {.heads = x.heads, .columns = x.columns, .head_stride = x.head_stride});
      rotary.apply(row, positions[static_cast<std::size_t>(own ? b * x.rows + r : r)],
                   {.inverse = inverse});
    }
  }
  if (!arena.holds(before)) fail("rows turned together are not those turned alone");
}

void fuzz_rotary(FuzzedDataProvider& input, Arena& arena) {
  const auto dimension = widths[input.ConsumeIntegralInRange<std::size_t>(0, widths.size() - 1)];
  const Rotary rotary(
      {.angles = one_axis({.d_model = dimension}),
       .channels = input.ConsumeBool() ? RotaryLayout::halves : RotaryLayout::interleaved,
       .attention_factor = input.ConsumeBool() ? 1 : 1.5});
  const HeadsView x =
      arena.heads(input, dimension + 2 * input.ConsumeIntegralInRange<std::int64_t>(0, 2));
  if (!arena.harmless(x)) return;
  const auto positions = positions_for(input, x);
  const RotateOptions options = {.inverse = input.ConsumeBool(),
                                 .threads = input.ConsumeIntegralInRange(0, 3)};
  const std::vector<float> before = arena.memory();
  if (accepted(arena, [&] { rotary.apply(x, positions, options); }))
    check_turned(rotary, arena, before, x, positions, options.inverse);
  const std::int64_t first = input.ConsumeIntegral<std::int64_t>();
  accepted(arena, [&] { rotary.apply(x, first, options); });
}

/// Tables and caches of an arrangement of axes, and of a grid.
void fuzz_axes(FuzzedDataProvider& input, Arena& arena) {
  std::vector<std::int64_t> sizes(input.ConsumeIntegralInRange<std::size_t>(0, 4));
  EncodingSpec spec = {.d_model = 0};
  for (std::int64_t& each : sizes) {
    each = Arena::size(input, 6);
    spec.d_model += each > 0 && each <= 6 ? 2 * each : 0;
  }
  const auto arrange = input.PickValueInArray(
      {axes_in_blocks, axes_in_sections, axes_interleaved, axes_alternating});
  std::optional<AxesSpec> axes;
  if (!accepted(arena, [&] { axes = arrange(sizes, spec); }) || axes->d_model() > 128) return;
  const MatrixView<float> out = arena.matrix(input, axes->d_model());
  // Calls may use fewer rows than a table has, and then accept a table that is impossible.
  const bool is_large = out.rows > Arena::floats || out.stride > Arena::floats;
  if (!arena.harmless(out) || (is_large && out.data != nullptr)) return;
  std::vector<std::int64_t> list(input.ConsumeIntegralInRange<std::size_t>(0, 40));
  for (std::int64_t& each : list) each = Arena::size(input, 30);
  const std::int64_t on_axes = input.ConsumeIntegralInRange<std::int64_t>(0, 4);
  const std::int64_t rows = std::ssize(list) / std::max<std::int64_t>(on_axes, 1);
  const RowPositions positions(list.data(), on_axes, rows, rows);
  const int threads = input.ConsumeIntegralInRange(0, 3);
  accepted(arena, [&] { AxesEncoder(*axes).encode(positions, out, threads); });
  const Rotary rotary({.angles = *axes});
  for (const RotaryLayout layout : {RotaryLayout::halves, RotaryLayout::interleaved})
    accepted(arena, [&] { rotary.cache(positions, layout, out, threads); });
  const std::int64_t grid_rows = Arena::size(input, 6), columns = Arena::size(input, 6);
  const auto convention = input.PickValueInArray(
      {GridConvention::mae, GridConvention::simple_vit, GridConvention::detr});
  accepted(arena,
           [&] { encode_grid(convention, grid_rows, columns, axes->d_model(), out, threads); });
}

}  // namespace
}  // namespace posenc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace posenc::fuzz;
  return fuzz_one_of({fuzz_forward, fuzz_rotary, fuzz_axes}, data, size);
}
