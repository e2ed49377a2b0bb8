// Services of the operating system that tables need. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

namespace posenc::detail {

/// The number of CPUs that this process may use; 0 if the system does not say.
int usable_cpus() noexcept;

/// Bytes of the data or unified cache of this level, 1 to 3; 0 if unknown. If there are several
/// kinds of cores, the cache of a fast core counts.
std::int64_t cache_bytes(int level);

/// Bytes of main memory; 0 if the system does not say.
std::int64_t memory_bytes() noexcept;

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Allocates uninitialised memory, or returns null. `bytes` is a multiple of the alignment. If the
/// alignment is a huge page, the memory lies in huge pages where the system has them.
void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept;
void free_aligned(void* memory) noexcept;

/// Starts a thread that receives no signals except signals raised by its own instructions. Throws
/// std::system_error.
std::thread start_helper(const std::function<void()>& work);

/// Gives the calling thread the CPUs and the scheduling policy of the process, which are set on its
/// first thread. Without this call, it has the CPUs and the policy of the thread that started it.
void take_affinity_of_process() noexcept;

/// While an object lives, requests to cancel its thread wait. A loop must not end before its
/// helpers do.
class CancellationWaits {
 public:
  CancellationWaits() noexcept;
  ~CancellationWaits();
  CancellationWaits(const CancellationWaits&) = delete;
  CancellationWaits& operator=(const CancellationWaits&) = delete;

 private:
  [[maybe_unused]] int before_ = 0;
};

/// Keeps the code of this library loaded if the system can unload libraries while their threads
/// run. Returns true if it did so. Threads then need not be joined.
bool keep_loaded() noexcept;

/// Registers a function that is called in the child of each fork of the process.
void after_fork(void (*in_child)()) noexcept;

}  // namespace posenc::detail
