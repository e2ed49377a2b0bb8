// A parallel loop. Internal: not installed.
#pragma once

#include <algorithm>
#include <cstdint>

namespace posenc {

/// Where the part of that number begins if [0, count) is divided into parts of equal size, or
/// nearly so. (count * part / parts would overflow if both factors are large.)
constexpr std::int64_t part_begin(std::int64_t count, std::int64_t parts,
                                  std::int64_t part) noexcept {
  return count / parts * part + std::min(part, count % parts);
}

/// Calls work(begin, end) for contiguous parts of [0, count), one for each thread. work must not
/// throw.
template <class Work>
void parallel_for(std::int64_t count, int threads, const Work& work) noexcept {
  const std::int64_t parts = std::min<std::int64_t>(threads, count);
  if (parts <= 1) {
    if (count > 0) work(std::int64_t{0}, count);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
#endif
  for (std::int64_t part = 0; part < parts; ++part) {
    work(part_begin(count, parts, part), part_begin(count, parts, part + 1));
  }
}

}  // namespace posenc
