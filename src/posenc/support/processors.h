// What the operating system says about the processors. Internal: not installed.
#pragma once

#include <cstdint>

namespace posenc {

/// The CPUs that this process may use; 0 if the system does not say.
int usable_cpus() noexcept;

/// Bytes of the data or unified cache of that level, 1 to 3; 0 if unknown. Those of a fast core if
/// there are several kinds.
std::int64_t cache_bytes(int level);

}  // namespace posenc
