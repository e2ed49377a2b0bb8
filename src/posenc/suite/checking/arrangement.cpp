#include "posenc/suite/checking/arrangement.h"

namespace posenc::suite {

std::int64_t frequencies_in(Arrangement arrangement, std::int64_t columns) noexcept {
  switch (arrangement) {
    case Arrangement::cosines:
    case Arrangement::sines:
    case Arrangement::alternating: return columns;
    default: return columns % 2 == 0 ? columns / 2 : 0;
  }
}

ColumnContent content_of(Arrangement arrangement, std::int64_t columns,
                         std::int64_t column) noexcept {
  const std::int64_t half = columns / 2;
  const bool is_second_half = column >= half, is_odd = column % 2 == 1;
  const std::int64_t in_half = is_second_half ? column - half : column;
  switch (arrangement) {
    case Arrangement::interleaved: return {column / 2, is_odd};
    case Arrangement::halves: return {in_half, is_second_half};
    case Arrangement::halves_cos_first: return {in_half, !is_second_half};
    case Arrangement::interleaved_cos_first: return {column / 2, !is_odd};
    case Arrangement::cosines: return {column, true};
    case Arrangement::sines: return {column, false};
    case Arrangement::cosines_twice: return {in_half, true};
    case Arrangement::sines_twice: return {in_half, false};
    case Arrangement::cosines_repeated: return {column / 2, true};
    case Arrangement::sines_repeated: return {column / 2, false};
    case Arrangement::alternating: break;
  }
  return {column, is_odd};
}

std::int64_t column_of(Arrangement arrangement, std::int64_t columns, std::int64_t k,
                       bool is_cosine) noexcept {
  // The four columns that hold frequency k in some arrangement.
  for (const std::int64_t column : {k, 2 * k, 2 * k + 1, k + columns / 2}) {
    if (column >= columns) continue;
    const ColumnContent content = content_of(arrangement, columns, column);
    if (content.k == k && content.is_cosine == is_cosine) return column;
  }
  return -1;
}

Arrangement arrangement_of(Layout layout) noexcept {
  switch (layout) {
    case Layout::interleaved: return Arrangement::interleaved;
    case Layout::halves: return Arrangement::halves;
    case Layout::halves_cos_first: break;
  }
  return Arrangement::halves_cos_first;
}

}  // namespace posenc::suite
