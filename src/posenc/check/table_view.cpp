#include "posenc/check/table_view.h"

#include "posenc/support/with_type.h"

#include <cstddef>

namespace posenc::check {

double TableView::operator()(std::int64_t row, std::int64_t column) const noexcept {
  const std::int64_t index = row * row_stride + column * column_stride;
  return with_type(type, [&]<class T>(T) { return to_double(static_cast<const T*>(data)[index]); });
}

}  // namespace posenc::check
