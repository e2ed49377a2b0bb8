#include "arena.h"

namespace posenc::fuzz {
namespace {

__extension__ typedef __int128 int128;

/// The offset past a view's last element: 0 if it has none, negative if it ends before its
/// beginning.
int128 extent(int128 outer, int128 outer_stride, int128 inner, int128 inner_stride,
              int128 columns) noexcept {
  if (outer <= 0 || inner <= 0 || columns <= 0) return 0;
  const int128 of_outer = (outer - 1) * outer_stride, of_inner = (inner - 1) * inner_stride;
  return of_outer + of_inner + columns;
}

/// True if the extent is within the arena, or larger than any memory, so that it must be refused.
bool harmless_extent(const Arena& arena, const float* data, int128 extent) noexcept {
  if (data == nullptr) return true;
  const int128 left = Arena::floats - (data - arena.memory().data());
  constexpr int128 impossible = (int128{1} << 63) / 4;
  return extent <= left || extent >= impossible;
}

}  // namespace

Arena::Arena() {
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < floats; ++i) {
    state = state * 1664525 + 1013904223;
    memory_.push_back(static_cast<float>(state >> 8) * 0x1p-22f - 2.0f);
  }
}

std::int64_t Arena::size(FuzzedDataProvider& input, std::int64_t most) {
  if (input.ConsumeIntegralInRange(0, 31) != 0)
    return input.ConsumeIntegralInRange<std::int64_t>(0, most);
  return input.ConsumeIntegral<std::int64_t>();
}

SequenceView<float> Arena::sequences(FuzzedDataProvider& input, std::int64_t columns) {
  const std::int64_t batch = size(input, 5), rows = size(input, 40);
  float* const begin = input.ConsumeIntegralInRange(0, 31) == 0
                           ? nullptr
                           : data() + input.ConsumeIntegralInRange<std::int64_t>(0, 200);
  const bool is_batch_first = input.ConsumeBool();
  SequenceView<float> view = {
      begin,   is_batch_first ? BatchOrder::batch_first : BatchOrder::sequence_first,
      batch,   rows,
      columns, 0,
      0};
  const std::int64_t gap = input.ConsumeIntegralInRange<std::int64_t>(0, 3);
  const bool dense = batch >= 0 && batch <= 5 && rows >= 0 && rows <= 40;
  if (dense && input.ConsumeIntegralInRange(0, 3) != 0) {
    view.batch_stride = is_batch_first ? rows * (columns + gap) : columns + gap;
    view.row_stride = is_batch_first ? columns + gap : batch * (columns + gap);
  } else {
    view.batch_stride = size(input, 2000);
    view.row_stride = size(input, 2000);
  }
  if (input.ConsumeIntegralInRange(0, 31) == 0) view.columns = size(input, 70);
  return view;
}

MatrixView<float> Arena::matrix(FuzzedDataProvider& input, std::int64_t columns) {
  float* const begin = input.ConsumeIntegralInRange(0, 31) == 0
                           ? nullptr
                           : data() + input.ConsumeIntegralInRange<std::int64_t>(0, floats / 2);
  MatrixView<float> view = {begin, size(input, 40), columns, 0};
  view.stride = input.ConsumeBool() ? columns : size(input, 100);
  if (input.ConsumeIntegralInRange(0, 31) == 0) view.columns = size(input, 70);
  return view;
}

HeadsView Arena::heads(FuzzedDataProvider& input, std::int64_t columns) {
  const std::int64_t batch = size(input, 3), count = size(input, 3), rows = size(input, 8);
  float* const begin = input.ConsumeIntegralInRange(0, 31) == 0
                           ? nullptr
                           : data() + input.ConsumeIntegralInRange<std::int64_t>(0, 200);
  const bool small = batch >= 0 && batch <= 3 && count >= 0 && count <= 3 && rows >= 0 && rows <= 8;
  const std::int64_t head = columns + input.ConsumeIntegralInRange<std::int64_t>(0, 3);
  HeadsView view(begin, {batch, count, rows, columns, size(input, 4000), size(input, 2000),
                         size(input, 2000)});
  if (small && input.ConsumeIntegralInRange(0, 3) != 0) {
    const bool is_heads_first = input.ConsumeBool();
    view.batch_stride = count * rows * head;
    view.head_stride = is_heads_first ? rows * head : head;
    view.row_stride = is_heads_first ? head : count * head;
  }
  if (input.ConsumeIntegralInRange(0, 31) == 0) view.columns = size(input, 70);
  return view;
}

bool Arena::harmless(const HeadsView& view) const noexcept {
  if (view.batch <= 0 || view.heads <= 0 || view.rows <= 0 || view.columns <= 0) return true;
  const int128 end = (int128{view.batch} - 1) * view.batch_stride +
                     (int128{view.heads} - 1) * view.head_stride +
                     (int128{view.rows} - 1) * view.row_stride + view.columns;
  return harmless_extent(*this, static_cast<const float*>(view.data), end);
}

bool Arena::harmless(const SequenceView<float>& view) const noexcept {
  return harmless_extent(
      *this, view.data,
      extent(view.batch, view.batch_stride, view.rows, view.row_stride, view.columns));
}

bool Arena::harmless(const MatrixView<float>& view) const noexcept {
  return harmless_extent(*this, view.data, extent(1, 0, view.rows, view.stride, view.columns));
}

int fuzz_one_of(std::initializer_list<Fuzzed> functions, const std::uint8_t* data,
                std::size_t size) {
  static const Arena fresh;
  Arena arena = fresh;
  FuzzedDataProvider input(data, size);
  const Fuzzed chosen =
      functions.begin()[input.ConsumeIntegralInRange<std::size_t>(0, functions.size() - 1)];
  chosen(input, arena);
  return 0;
}

}  // namespace posenc::fuzz
