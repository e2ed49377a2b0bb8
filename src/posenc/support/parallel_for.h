// A parallel loop. Internal: not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>

namespace posenc {

/// Where the part of that number begins if [0, count) is divided into parts of equal size, or
/// nearly so. (count * part / parts would overflow if both factors are large.)
constexpr std::int64_t part_begin(std::int64_t count, std::int64_t parts,
                                  std::int64_t part) noexcept {
  return count / parts * part + std::min(part, count % parts);
}

/// The largest number of threads that have work: the OpenMP runtime ends a process that asks for
/// more threads than the system creates.
inline constexpr int most_threads = 1024;

/// Calls work(begin, end) for contiguous parts of [0, count), one for each thread. Throws what one
/// of the calls threw, after all of them.
template <class Work>
void parallel_for(std::int64_t count, int threads, const Work& work) {
  const std::int64_t parts = std::min<std::int64_t>({threads, count, most_threads});
  if (parts <= 1) {
    if (count > 0) work(std::int64_t{0}, count);
    return;
  }
  std::exception_ptr failure;
#ifdef _OPENMP
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
#endif
  for (std::int64_t part = 0; part < parts; ++part) {
    try {
      work(part_begin(count, parts, part), part_begin(count, parts, part + 1));
    } catch (...) {
#ifdef _OPENMP
#pragma omp critical(posenc_parallel_for)
#endif
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace posenc
