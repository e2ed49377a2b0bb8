#include "arena.h"

namespace posenc::fuzz {

using namespace model;

Arena::Arena() {
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < floats; ++i) {
    state = state * 1664525 + 1013904223;
    memory_.push_back(static_cast<float>(state >> 8) * 0x1p-22f - 2.0f);
  }
}

std::int64_t Arena::size(FuzzedDataProvider& input, std::int64_t most) {
  return rarely(input) ? input.ConsumeIntegral<std::int64_t>()
                       : input.ConsumeIntegralInRange<std::int64_t>(0, most);
}

SequenceView<float> Arena::sequences(FuzzedDataProvider& input, std::int64_t columns) {
  const std::int64_t batch = size(input, 5), rows = size(input, 40);
  float* const first = begin(input, 200);
  const bool is_batch_first = input.ConsumeBool();
  const std::int64_t row = columns + input.ConsumeIntegralInRange<std::int64_t>(0, 3);
  std::int64_t batch_stride = size(input, 2000), row_stride = size(input, 2000);
  const bool small = batch >= 0 && batch <= 5 && rows >= 0 && rows <= 40;
  if (small && input.ConsumeIntegralInRange(0, 3) != 0) {
    batch_stride = is_batch_first ? rows * row : row;
    row_stride = is_batch_first ? row : batch * row;
  }
  return {first,
          is_batch_first ? BatchOrder::batch_first : BatchOrder::sequence_first,
          batch,
          rows,
          rarely(input) ? size(input, 70) : columns,
          batch_stride,
          row_stride};
}

MatrixView<float> Arena::matrix(FuzzedDataProvider& input, std::int64_t columns) {
  MatrixView<float> view = {begin(input, floats / 2), size(input, 40), columns, 0};
  view.stride = input.ConsumeBool() ? columns : size(input, 100);
  if (rarely(input)) view.columns = size(input, 70);
  return view;
}

HeadsView Arena::heads(FuzzedDataProvider& input, std::int64_t columns) {
  const std::int64_t batch = size(input, 3), count = size(input, 3), rows = size(input, 8);
  const bool small = batch >= 0 && batch <= 3 && count >= 0 && count <= 3 && rows >= 0 && rows <= 8;
  const std::int64_t head = columns + input.ConsumeIntegralInRange<std::int64_t>(0, 3);
  HeadsView view(begin(input, 200), {batch, count, rows, columns, size(input, 4000),
                                     size(input, 2000), size(input, 2000)});
  if (small && input.ConsumeIntegralInRange(0, 3) != 0) {
    const bool is_heads_first = input.ConsumeBool();
    view.batch_stride = count * rows * head;
    view.head_stride = is_heads_first ? rows * head : head;
    view.row_stride = is_heads_first ? head : count * head;
  }
  if (rarely(input)) view.columns = size(input, 70);
  return view;
}

bool Arena::harmless(const HeadsView& view) const noexcept {
  __extension__ typedef __int128 int128;
  const bool is_empty = view.batch <= 0 || view.heads <= 0 || view.rows <= 0 || view.columns <= 0;
  if (is_empty || view.data == nullptr) return true;
  // Past the last element; negative if the view ends before its beginning.
  const int128 end = (int128{view.batch} - 1) * view.batch_stride +
                     (int128{view.heads} - 1) * view.head_stride +
                     (int128{view.rows} - 1) * view.row_stride + view.columns;
  constexpr int128 impossible = (int128{1} << 63) / 4;  // larger than any memory: refused
  return end >= impossible ||
         end <= floats - (static_cast<const float*>(view.data) - memory_.data());
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
