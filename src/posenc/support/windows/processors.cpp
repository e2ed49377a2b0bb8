#include "posenc/support/processors.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <thread>
#include <vector>

#include <windows.h>

namespace posenc {

int usable_cpus() noexcept {
  // A process has a mask of the CPUs of its group only, unless it is in several groups.
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

}  // namespace posenc
