#include "posenc/simd/store_plan.h"

#include "posenc/cpu.h"
#include "posenc/simd/kernels.h"
#include "posenc/support/cache_line.h"

#include <algorithm>
#include <cstdint>

namespace posenc::simd {
namespace {

constexpr std::int64_t line = cache_line_bytes;

/// In shorter segments, incomplete lines cost more than non-temporal stores gain.
constexpr std::int64_t least_staged_bytes = 4 * line;
/// Joining lines in registers takes 0.80 of the time of a buffer from 512 columns of float32 on,
/// and 0.91 at 256 columns. At 128 columns it takes 1.2 times the time, because incomplete lines
/// dominate (Zen 5).
constexpr std::int64_t least_realigned_bytes = 256 * std::int64_t{sizeof(float)};

/// True if stores of parts of a line, in each of several rows whole pages apart, are faster than
/// stores through a buffer. With AVX2 (rotation at 8192 x 4096), they are 1.3 times as fast on Zen
/// 4, 1.45 times on Zen 5, 1.35 times on an Intel Xeon with AMX, and 0.4 times on Zen 3. The
/// presence of AVX-512 tells these CPUs apart.
bool has_fast_lines() noexcept {
#if defined(__x86_64__)
  static const bool has = cpu_has(Isa::avx512);
  return has;
#else
  return false;
#endif
}

/// True if panels whose constants stay in L1 are faster than long rows of columns, which
/// prefetchers follow. On Sapphire Rapids, such panels are half as fast. On Zen 5, which has 48 KiB
/// of L1, wide panels are 1.1 to 1.6 times as fast if rows are whole pages apart.
bool has_fast_narrow_panels([[maybe_unused]] bool at_pages) noexcept {
#if defined(__x86_64__)
  static const bool is_amd = [] {
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") != 0;
  }();
  constexpr std::int64_t large_l1 = 48 << 10;
  return is_amd && !(at_pages && cpu().l1_bytes >= large_l1);
#else
  return false;
#endif
}

/// The method for a table that is to be stored non-temporally.
StoreMethod non_temporal_method(const RowLayout& row, const RowTask& task, Writer writer,
                                std::int64_t float_lanes) noexcept {
  const std::int64_t size = size_of(task.type), stride = task.stride * size;
  // The columns that follow one another in a row: all columns, or the sines or the cosines.
  const std::int64_t segment =
      size * (row.layout == Layout::interleaved ? row.d_model : row.frequencies());
  const auto address = reinterpret_cast<std::uintptr_t>(task.out);
  const bool ends_at_lines = segment % line == 0;
  const bool begins_at_lines = address % line == 0 && stride % line == 0 &&
                               (row.layout == Layout::interleaved || ends_at_lines);
  const bool has_whole_lines = begins_at_lines && ends_at_lines;
  const bool can_be_staged = writer != Writer::doubles && segment >= least_staged_bytes &&
                             address % static_cast<std::uintptr_t>(size) == 0;
  if (!has_whole_lines && !can_be_staged) return StoreMethod::plain;
  const bool writes_two_rows = writer == Writer::pairs || writer == Writer::doubles;
  const bool has_line_vectors = float_lanes * std::int64_t{sizeof(float)} == line;
  // Rows that are whole pages apart compete for the same sets of a cache, and stores to one line in
  // each of several rows may be slow. Sums, which also load, are slow from half pages on.
  const bool are_pages_apart = stride % (writer == Writer::sums ? page_bytes / 2 : page_bytes) == 0;
  const bool are_lines_fast = writes_two_rows || has_line_vectors ||
                              (has_fast_lines() && writer == Writer::tiles) || !are_pages_apart;
  if (begins_at_lines && are_lines_fast) return StoreMethod::lines;
  if (writer == Writer::tiles && has_line_vectors && segment >= least_realigned_bytes)
    return StoreMethod::realigned;
  return StoreMethod::staged;
}

}  // namespace

bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept {
  if (policy != StorePolicy::automatic) return policy == StorePolicy::non_temporal;
  return bytes > most_cached_bytes();
}

StorePlan plan_stores(const RowLayout& row, const RowTask& task, bool non_temporal, Writer writer,
                      std::int64_t float_lanes) noexcept {
  const bool at_pages = task.stride * size_of(task.type) % page_bytes == 0;
  const StoreMethod method =
      non_temporal ? non_temporal_method(row, task, writer, float_lanes) : StoreMethod::plain;
  return {method, at_pages, method == StoreMethod::plain && has_fast_narrow_panels(at_pages)};
}

StoreMethod plan_combined_rows(bool non_temporal, DataType type, const void* out,
                               std::span<const std::int64_t> lengths) noexcept {
  const bool has_whole_lines =
      reinterpret_cast<std::uintptr_t>(out) % line == 0 &&
      std::ranges::all_of(lengths, [](std::int64_t n) { return n % cache_line_floats == 0; });
  const bool are_lines = non_temporal && type == DataType::float32 && has_whole_lines;
  return are_lines ? StoreMethod::lines : StoreMethod::plain;
}

}  // namespace posenc::simd
