// Objects that are made at first use and never destroyed. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <atomic>
#include <memory>

namespace posenc::detail {

/// Returns the object that `kept` holds. If there is none yet, calls make(), which returns a
/// std::unique_ptr, and keeps its object. Threads that ask at the same time may make several
/// objects, of which one is kept. If make() throws, the exception passes through, and the next call
/// tries again.
///
/// A function-local static would not do. If another thread of the parent was initialising it during
/// a fork, the child would wait for ever. A static that is destroyed is also missing while the
/// program exits.
template <class T, class Make>
T& made_once(std::atomic<T*>& kept, const Make& make) {
  if (T* const known = kept.load()) return *known;
  std::unique_ptr<T> made = make();
  T* expected = nullptr;
  return kept.compare_exchange_strong(expected, made.get()) ? *made.release() : *expected;
}

}  // namespace posenc::detail
