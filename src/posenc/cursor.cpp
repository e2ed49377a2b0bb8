#include "posenc/cursor.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>

namespace posenc {

Cursor::Cursor(const Encoder& encoder, std::int64_t first) : encoder_(encoder) { seek(first); }

void Cursor::seek(std::int64_t position) {
  validate(RowRange{position, 0});
  position_ = position;
}

std::span<const float> Cursor::next() {
  // Rows that share an anchor cost a fraction of a single row. More rows than this gain little and
  // may leave the cache.
  constexpr std::int64_t rows_ahead = 32;
  if (position_ < kept_.first || position_ >= kept_.first + kept_.count) {
    const RowRange rows = {position_, std::min(rows_ahead, max_position - position_ + 1)};
    if (rows.count == 0)
      throw InvalidArgument(
          format_text("position is {}; allowed: 0 to {}", position_, max_position));
    const std::int64_t columns = encoder_.spec().d_model;
    ahead_.resize(static_cast<std::size_t>(rows_ahead * columns));
    encoder_.encode(rows, {ahead_.data(), rows.count, columns, columns}, {1, StorePolicy::cached});
    kept_ = rows;
  }
  const auto columns = static_cast<std::size_t>(encoder_.spec().d_model);
  return {ahead_.data() + static_cast<std::size_t>(position_++ - kept_.first) * columns, columns};
}

}  // namespace posenc
