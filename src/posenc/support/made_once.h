// Objects that are made at the first use and never destroyed. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <atomic>
#include <memory>

namespace posenc::detail {

/// What `kept` holds, or, if that is nothing yet, what make() returns as a std::unique_ptr. Threads
/// that ask at once may make several, of which one is kept. A function-local static would leave the
/// child of a fork waiting for ever, if another thread of the parent was making it; and one that is
/// destroyed is missing while the program exits. Throws what make() throws, and tries again at the
/// next call.
template <class T, class Make>
T& made_once(std::atomic<T*>& kept, const Make& make) {
  if (T* const known = kept.load()) return *known;
  std::unique_ptr<T> made = make();
  T* expected = nullptr;
  return kept.compare_exchange_strong(expected, made.get()) ? *made.release() : *expected;
}

}  // namespace posenc::detail
