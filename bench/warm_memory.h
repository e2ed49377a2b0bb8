// Memory that the benchmarks share.
#pragma once

#include <cstdint>

namespace posenc::bench {

/// At least `bytes` of memory, 64-byte aligned and touched before. Valid until the next call.
float* warm_memory(std::int64_t bytes);

}  // namespace posenc::bench
