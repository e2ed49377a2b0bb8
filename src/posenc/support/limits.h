// The largest inputs that are read, and the longest texts that are shown. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <cstddef>
#include <cstdint>

namespace posenc::detail {

/// JSON files: profiles, documents of measurements, and configurations of models.
inline constexpr std::size_t max_document_bytes = std::size_t{16} << 20;
inline constexpr int max_json_depth = 64;
/// A text in a document, such as the name of a backend.
inline constexpr std::size_t max_text_bytes = 1000;

/// The longest header that numpy.load() reads.
inline constexpr std::int64_t max_npy_header_bytes = 10'000;
/// Enough for 30,000 tensors. The files of the largest models have some thousands of tensors each.
inline constexpr std::int64_t max_safetensors_header_bytes = std::int64_t{4} << 20;

/// The longest line of an exception or on standard error. A longer line loses its middle.
inline constexpr std::size_t max_message_bytes = 1000;
/// A name or a value in a message.
inline constexpr std::size_t max_quoted_bytes = 60;

}  // namespace posenc::detail
