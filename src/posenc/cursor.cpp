#include "posenc/cursor.h"

#include "posenc/backend.h"
#include "posenc/support/check.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace posenc {

template <class T>
BasicCursor<T>::BasicCursor(const Encoder& encoder, std::int64_t first) : encoder_(encoder) {
  encoder.backend().check_supports(data_type_of<T>);
  seek(first);
}

template <class T>
BasicCursor<T>::BasicCursor(std::unique_ptr<const Encoder> encoder, std::int64_t first)
    : BasicCursor(*encoder, first) {
  owned_ = std::move(encoder);
}

template <class T>
void BasicCursor<T>::seek(std::int64_t position) {
  validate(RowRange{position, 0});
  position_ = position;
}

template <class T>
std::span<const T> BasicCursor<T>::next() {
  // Rows that share an anchor cost a fraction of the price of a single row. Encoding more rows than
  // this gains little, and the rows may no longer fit in the cache.
  constexpr std::int64_t rows_ahead = 32;
  if (position_ < kept_.first || position_ >= kept_.first + kept_.count) {
    check_range("position", position_, -max_position, max_position);
    const RowRange rows = {position_, std::min(rows_ahead, max_position - position_ + 1)};
    const std::int64_t columns = encoder_.spec().d_model;
    ahead_.resize(rows_ahead * columns);
    encoder_.encode(rows, MatrixView<T>{ahead_.data(), rows.count, columns, columns},
                    {1, StorePolicy::cached});
    kept_ = rows;
  }
  const auto columns = static_cast<std::size_t>(encoder_.spec().d_model);
  return {ahead_.data() + (position_++ - kept_.first) * columns, columns};
}

template <class T>
void BasicCursor<T>::next(std::span<T> row) {
  const auto columns = static_cast<std::size_t>(encoder_.spec().d_model);
  if (row.size() != columns)
    throw_invalid("row has {} elements; allowed: d_model, {}", row.size(), columns);
  std::ranges::copy(next(), row.begin());
}

template class BasicCursor<float>;
template class BasicCursor<double>;
template class BasicCursor<Float16>;
template class BasicCursor<BFloat16>;

}  // namespace posenc
