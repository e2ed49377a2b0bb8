// Ctrl-C and its like. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <memory>

namespace posenc::detail {

/// Delays them during its lifetime, for what must not be left half done.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();  ///< raises the signal that came meanwhile, which by default ends the program
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  struct Actions;
  std::unique_ptr<Actions> old_;
};

/// True if a signal came during the lifetime.
bool was_interrupted() noexcept;

}  // namespace posenc::detail
