// The floating-point environment of the library's own code. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace posenc::detail {

/// While an object lives, its thread rounds to nearest, traps nothing and keeps subnormals, as the
/// error bounds require. The destructor restores the caller's environment. If that environment
/// differed from the default, its exception flags are restored, too.
class DefaultFloatingPoint {
 public:
#if defined(__x86_64__)
  // Only vector registers are used, so the x87 control word has no effect. Reading the control
  // register takes some cycles, but writing it takes some tens. Callers nearly always have the
  // default.
  DefaultFloatingPoint() noexcept : before_(_mm_getcsr()) {
    if (is_other()) _mm_setcsr(default_control);
  }
  ~DefaultFloatingPoint() {
    if (is_other()) _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned default_control = 0x1f80, flags = 0x3f;
  bool is_other() const noexcept { return (before_ & ~flags) != default_control; }
  unsigned before_;
#else
  DefaultFloatingPoint() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
#endif

 public:
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;
};

}  // namespace posenc::detail
