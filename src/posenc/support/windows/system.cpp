#include "posenc/support/system.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <malloc.h>
#include <windows.h>

namespace posenc::detail {

int usable_cpus() noexcept {
  // The mask has only the CPUs of the process's group. There is none if the process is in several
  // groups.
  DWORD_PTR allowed = 0, all = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &allowed, &all) != 0 && allowed != 0)
    return std::popcount(std::uint64_t{allowed});
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::int64_t cache_bytes(int level) {
  DWORD bytes = 0;
  GetLogicalProcessorInformationEx(RelationCache, nullptr, &bytes);
  std::vector<std::byte> records(bytes);
  const auto first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(records.data());
  if (bytes == 0 || GetLogicalProcessorInformationEx(RelationCache, first, &bytes) == 0) return 0;
  std::int64_t largest = 0;
  for (std::size_t at = 0; at < bytes;) {
    const auto& record =
        *reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(&records[at]);
    const CACHE_RELATIONSHIP& cache = record.Cache;
    if (cache.Level == level && (cache.Type == CacheData || cache.Type == CacheUnified))
      largest = std::max(largest, std::int64_t{cache.CacheSize});
    at += record.Size;
  }
  return largest;
}

std::int64_t memory_bytes() noexcept {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) != 0 ? static_cast<std::int64_t>(status.ullTotalPhys) : 0;
}

// Windows has huge pages for privileged processes only.
void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  return _aligned_malloc(bytes, alignment);
}

void free_aligned(void* memory) noexcept { _aligned_free(memory); }

// A DLL is notified of its end under a lock that ending threads need, so no thread can be joined
// there.
bool keep_loaded() noexcept {
  HMODULE module = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<LPCWSTR>(&keep_loaded), &module) != 0;
}

// Windows has no signals and no forks, and threads start with the CPUs of the process.
std::thread start_helper(const std::function<void()>& work) { return std::thread(work); }
void take_affinity_of_process() noexcept {}
CancellationWaits::CancellationWaits() noexcept = default;
CancellationWaits::~CancellationWaits() = default;
void after_fork(void (*)()) noexcept {}

}  // namespace posenc::detail
