#include "posenc/backends/backends.h"

#include <algorithm>

namespace posenc::detail {

simd::Columns columns_of(const EncodingSpec& spec) noexcept {
  const ChannelPair first = channels_of(spec, 0);
  return {spec.layout == Layout::interleaved, first.sine, first.cosine};
}

void write_row_0(const EncodingSpec& spec, const RowTask& task) noexcept {
  const simd::Columns columns = columns_of(spec);
  const std::int64_t frequencies = spec.d_model / 2;
  with_type(task.type, [&]<class T>(T) {
    T* const row = task.row<T>(0);
    const T zero = nearest<T>(0.0), one = nearest<T>(1.0);
    if (columns.interleaved) {
      for (std::int64_t k = 0; k < frequencies; ++k) {
        row[2 * k] = zero;
        row[2 * k + 1] = one;
      }
    } else {
      std::fill_n(row + columns.sine, frequencies, zero);
      std::fill_n(row + columns.cosine, frequencies, one);
    }
  });
}

}  // namespace posenc::detail
