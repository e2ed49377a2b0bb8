// Checks of the arguments of layers. Internal: not installed.
#pragma once

#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/model/heads_view.h"
#include "posenc/model/sequence_view.h"
#include "posenc/support/check.h"

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

// Each check throws InvalidArgument, which names the argument, its value and the allowed values.

/// Sizes must not be negative, there must be `columns` columns, rows must not overlap, and the data
/// must not be null. Returns the memory that the view spans.
Memory check_sequences(std::string_view name, const AnySequences& view, std::int64_t columns);

/// The views must have the same type, order, batch and rows.
void check_same_shape(const AnySequences& x, const AnySequences& y);

/// y and x must share no element, or all of them. Both are checked views of the same shape.
void check_overlap(const AnySequences& x, const AnySequences& y);

/// Sizes must not be negative, the stride must be at least the columns, and the data must not be
/// null. Returns the memory that the view spans.
Memory check_matrix(std::string_view name, const InputView& view);

/// Two checked matrices must share no element. Their rows may alternate.
void check_apart(std::string_view name, const InputView& view, std::string_view other_name,
                 const InputView& other);

/// Sizes must not be negative, there must be at least `columns` columns, of another type than
/// float64, no two heads may overlap, and the data must not be null.
void check_heads(std::string_view name, const HeadsView& view, std::int64_t columns);

/// The two ranges of memory must not overlap.
void check_disjoint(std::string_view name, Memory memory, std::string_view other_name,
                    Memory other);

}  // namespace posenc
