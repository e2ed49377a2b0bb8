// Memory and sizes for calls that are made of random bytes: whatever is asked for, only the memory
// of the arena may change.
#pragma once

#include "posenc/encoder.h"
#include "posenc/layers/sequence_view.h"
#include "posenc/spec.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace posenc::fuzz {

/// Stops the fuzzer, which keeps the input.
[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

class Arena {
 public:
  static constexpr std::int64_t floats = 1 << 14;

  Arena();

  float* data() noexcept { return memory_.data(); }
  const std::vector<float>& memory() const noexcept { return memory_; }

  /// A small size most of the time, any 64-bit number now and then.
  static std::int64_t size(FuzzedDataProvider& input, std::int64_t most);

  /// A view that begins in the arena. Its extent may be anything that lies within the arena or that
  /// no memory has.
  SequenceView<float> sequences(FuzzedDataProvider& input, std::int64_t columns);
  MatrixView<float> matrix(FuzzedDataProvider& input, std::int64_t columns);

  /// Whether a call with that view, were it accepted, would stay in the arena.
  bool harmless(const SequenceView<float>& view) const noexcept;
  bool harmless(const MatrixView<float>& view) const noexcept;

 private:
  std::vector<float> memory_;
};

/// Makes a call, which may refuse its arguments but then must not have written. True where it was
/// accepted.
template <class Call>
bool accepted(const Arena& arena, const Call& call) {
  const std::vector<float> before = arena.memory();
  try {
    call();
    return true;
  } catch (const InvalidArgument&) {
    if (arena.memory() != before) fail("a refused call has written");
    return false;
  }
}

}  // namespace posenc::fuzz
