// Code for the element type of a table. Internal: not installed.
#pragma once

#include "posenc/data_type.h"
#include "posenc/support/detail.h"

namespace posenc::detail {

/// Calls use(T{}), where T is the element type of `type`.
template <class Use>
decltype(auto) with_type(DataType type, const Use& use) {
  if (type == DataType::float32) return use(float{});
  if (type == DataType::float64) return use(double{});
  if (type == DataType::float16) return use(Float16{});
  return use(BFloat16{});
}

}  // namespace posenc::detail
