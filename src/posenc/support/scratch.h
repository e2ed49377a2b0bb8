// Scratch memory of a call. Internal: not installed.
#pragma once

#include <cstdint>

namespace posenc {

/// At least `floats` floats, 64-byte aligned, which belong to the calling thread. They are kept for
/// its next call, so that decoding does not allocate at every step, and are valid until then.
/// Throws std::bad_alloc.
float* scratch(std::int64_t floats);

}  // namespace posenc
