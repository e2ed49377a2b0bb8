// What tables need of the operating system. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

namespace posenc::detail {

/// The CPUs that this process may use; 0 if the system does not say.
int usable_cpus() noexcept;

/// Bytes of the data or unified cache of that level, 1 to 3; 0 if unknown. Those of a fast core if
/// there are several kinds.
std::int64_t cache_bytes(int level);

/// Bytes of main memory; 0 if the system does not say.
std::int64_t memory_bytes() noexcept;

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Uninitialised memory, or null. `bytes` is a multiple of the alignment. If that is a huge page,
/// the memory is in such pages where the system has them.
void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept;
void free_aligned(void* memory) noexcept;

/// Starts a thread that receives no signals but those that its own instructions raise. Throws
/// std::system_error.
std::thread start_helper(const std::function<void()>& work);

/// Gives the calling thread the CPUs and the scheduling policy of the process, that is of its first
/// thread, not those of the thread that started it.
void take_affinity_of_process() noexcept;

/// Makes sure that the code of this library stays loaded, if the system has libraries that are
/// unloaded while their threads run, and says so. A thread need not be joined then.
bool keep_loaded() noexcept;

/// While one lives, a request to cancel its thread waits. A loop must not end before its helpers
/// do.
class CancellationWaits {
 public:
  CancellationWaits() noexcept;
  ~CancellationWaits();
  CancellationWaits(const CancellationWaits&) = delete;
  CancellationWaits& operator=(const CancellationWaits&) = delete;

 private:
  [[maybe_unused]] int before_ = 0;
};

/// Calls the function in the child of each fork of the process.
void after_fork(void (*in_child)()) noexcept;

}  // namespace posenc::detail
