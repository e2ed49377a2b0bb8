// Memory that a call needs for its own. Internal: not installed.
#pragma once

#include <cstdint>

namespace posenc {

/// At least so many floats, 64-byte aligned, of the calling thread, kept for its next call:
/// decoding must not ask the system for memory at every step. Valid until the thread's next call.
/// Throws std::bad_alloc.
float* scratch(std::int64_t floats);

}  // namespace posenc
