#include "posenc/backends/vectorised.h"

#include "posenc/support/cache_line.h"

#include <cstddef>

namespace posenc {

simd::Columns columns_of(const EncodingSpec& spec) noexcept {
  const ChannelPair first = channels_of(spec, 0);
  return {spec.layout == Layout::interleaved, first.sine, first.cosine};
}

bool allows_non_temporal(const EncodingSpec& spec, const RowTask& task) noexcept {
  const std::int64_t line = cache_line_bytes / size_of(task.type);
  const std::int64_t run = spec.layout == Layout::interleaved ? spec.d_model : spec.d_model / 2;
  return reinterpret_cast<std::uintptr_t>(task.out) % cache_line_bytes == 0 &&
         task.stride % line == 0 && run % line == 0;
}

FrequencyTables::FrequencyTables(const Frequencies& frequencies) {
  const std::int64_t padded =
      (frequencies.count() + simd::padding - 1) / simd::padding * simd::padding;
  high.resize(static_cast<std::size_t>(padded));
  low.resize(static_cast<std::size_t>(padded));
  for (std::int64_t k = 0; k < frequencies.count(); ++k) {
    high[static_cast<std::size_t>(k)] = frequencies[k].limb[0];
    low[static_cast<std::size_t>(k)] = frequencies[k].limb[1];
  }
}

}  // namespace posenc
