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

/// The largest number of threads that loops have.
inline constexpr int most_threads = 1024;

/// The number of threads that a loop has at most, if so many are asked for: no more than there are
/// CPUs that the process may use.
int usable_threads(int threads);

/// Elements that a thread must have to write or to read. In so many, rows of a table take 1.5 to 5
/// us with vector kernels; a helper that is awake begins after 0.3 us, and the first row of a piece
/// costs as much as several others.
inline constexpr std::int64_t least_elements = 32768;

/// The grain of a loop over rows of so many elements.
constexpr std::int64_t rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(1, least_elements / std::max<std::int64_t>(elements, 1));
}

/// The same, if rows follow from those before them, which makes the first row of a piece costly.
constexpr std::int64_t successive_rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(32, rows_per_piece(elements));
}

namespace internal {

/// A call of work(begin, end, thread), whose type is erased.
struct LoopBody {
  const void* work;
  void (*call)(const void* work, std::int64_t begin, std::int64_t end, int thread);
};

/// Requires 2 pieces or more, of `grain` indices each (the last one may be shorter).
void run_loop(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body);

}  // namespace internal

/// Calls work(begin, end, thread) for contiguous pieces of [0, count), by the calling thread and
/// by at most threads - 1 others. `thread` is below usable_threads(threads), and no two calls at
/// the same time have the same one: memory can be indexed by it. Pieces have at least `grain`
/// indices, except the last one; they depend on time unless threads is 1. A count below 2 * grain,
/// or one thread, is one piece.
///
/// The caller begins at the front and waits for no thread that has not begun a piece. A busy
/// machine thus costs no more than the loop takes on one thread, and a little: see
/// parallel_for.cpp. Throws what one of the calls threw, when no piece is being worked on; others
/// may then not have begun.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, const Work& work) {
  if (count <= 0) return;
  if (threads <= 1 || count / grain < 2) {
    work(std::int64_t{0}, count, 0);
    return;
  }
  const internal::LoopBody body = {
      &work, [](const void* erased, std::int64_t begin, std::int64_t end, int thread) {
        (*static_cast<const Work*>(erased))(begin, end, thread);
      }};
  internal::run_loop(count, grain, threads, body);
}

}  // namespace posenc
