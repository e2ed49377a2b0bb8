#include "posenc/backends/vectorised.h"

#include "posenc/support/cache_line.h"

#include <cstddef>

namespace posenc {

simd::Columns columns_of(const EncodingSpec& spec) noexcept {
  const ChannelPair first = channels_of(spec, 0);
  return {spec.layout == Layout::interleaved, first.sine, first.cosine};
}

RowTask with_allowed_stores(const EncodingSpec& spec, RowTask task) noexcept {
  constexpr std::int64_t least_staged_bytes = 4 * cache_line_bytes;
  const std::int64_t size = size_of(task.type);
  const std::int64_t run_bytes =
      size * (spec.layout == Layout::interleaved ? spec.d_model : spec.d_model / 2);
  const auto address = reinterpret_cast<std::uintptr_t>(task.out);
  const bool has_whole_lines = address % cache_line_bytes == 0 &&
                               task.stride * size % cache_line_bytes == 0 &&
                               run_bytes % cache_line_bytes == 0;
  const bool can_be_staged = task.type != DataType::float64 && run_bytes >= least_staged_bytes &&
                             address % static_cast<std::uintptr_t>(size) == 0;
  task.non_temporal = task.non_temporal && (has_whole_lines || can_be_staged);
  return task;
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
