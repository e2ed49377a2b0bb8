// What the layers ask of the views that they are given. Internal: not installed.
#pragma once

#include "posenc/encoder.h"
#include "posenc/layers/sequence_view.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace posenc {

/// The bytes from the first element to the last, gaps included. Empty if there are no elements.
struct Memory {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

template <class T>
Memory memory_of(std::span<T> elements) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(elements.data());
  return {begin, begin + elements.size_bytes()};
}

// Each throws InvalidArgument that names the argument, its value and what is allowed.

void check_threads(int threads);

/// Sizes not negative, `columns` columns, strides that keep rows apart, and memory. Returns what it
/// spans.
Memory check_sequences(std::string_view name, const SequenceView<const float>& view,
                       std::int64_t columns);

/// The same order, batch and rows.
void check_same_shape(const SequenceView<const float>& x, const SequenceView<const float>& y);

/// Out of place, or exactly in place: y and x share no element, or all of them. Both are checked
/// views of the same shape.
void check_overlap(const SequenceView<const float>& x, const SequenceView<const float>& y);

/// Sizes not negative, stride at least the columns, and memory. Returns what it spans.
Memory check_matrix(std::string_view name, const MatrixView<const float>& view);

void check_disjoint(std::string_view name, Memory memory, std::string_view other_name,
                    Memory other);

}  // namespace posenc
