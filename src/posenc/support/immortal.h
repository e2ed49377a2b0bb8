// Objects that the program may still use while it exits. Internal: not installed.
#pragma once

#include <utility>

namespace posenc::detail {

/// Moves the value to memory that is never freed. A `static` reference to it is valid in the
/// destructors of other static objects and in functions of atexit(), whatever their order.
template <class T>
const T& immortal(T value) {
  return *new T(std::move(value));
}

}  // namespace posenc::detail
