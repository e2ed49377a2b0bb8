// Memory and sizes for calls with random arguments. Callers skip a call unless its views lie in the
// arena or must be refused, so that a call can change no other memory.
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/sequence_view.h"
#include "posenc/spec.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace posenc::fuzz {

/// Aborts, so that the fuzzer stores the input that led here.
[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// True one time in 32.
inline bool rarely(FuzzedDataProvider& input) { return input.ConsumeIntegralInRange(0, 31) == 0; }

class Arena {
 public:
  static constexpr std::int64_t floats = 1 << 14;

  Arena();

  float* data() noexcept { return memory_.data(); }
  /// One of the first `most` elements, and rarely null.
  float* begin(FuzzedDataProvider& input, std::int64_t most) {
    return rarely(input) ? nullptr : data() + input.ConsumeIntegralInRange<std::int64_t>(0, most);
  }
  const std::vector<float>& memory() const noexcept { return memory_; }
  /// True if the memory has these bits. They may be those of a NaN, which equals nothing, where a
  /// table of another type was written.
  bool holds(const std::vector<float>& expected) const noexcept {
    return std::memcmp(memory_.data(), expected.data(), memory_.size() * sizeof(float)) == 0;
  }

  /// Usually a size from 0 to `most`, and sometimes any 64-bit number.
  static std::int64_t size(FuzzedDataProvider& input, std::int64_t most);

  /// A view that begins in the arena or is null. Its extent may be anything, so check harmless().
  model::SequenceView<float> sequences(FuzzedDataProvider& input, std::int64_t columns);
  MatrixView<float> matrix(FuzzedDataProvider& input, std::int64_t columns);
  model::HeadsView heads(FuzzedDataProvider& input, std::int64_t columns);

  /// True if a call with this view stays in the arena, or must be refused.
  bool harmless(const model::HeadsView& view) const noexcept;
  bool harmless(const model::SequenceView<float>& view) const noexcept {
    return harmless(model::HeadsView(view.data, model::AnySequences(view)));
  }
  bool harmless(const MatrixView<float>& view) const noexcept {
    return harmless(model::HeadsView(
        view.data, {.rows = view.rows, .columns = view.columns, .row_stride = view.stride}));
  }

 private:
  std::vector<float> memory_;
};

/// Makes a call and returns true if it accepts its arguments. A call that refuses them must not
/// have written to the arena.
template <class Call>
bool accepted(const Arena& arena, const Call& call) {
  const std::vector<float> before = arena.memory();
  try {
    call();
    return true;
  } catch (const InvalidArgument&) {
    if (!arena.holds(before)) fail("a refused call has written");
    return false;
  }
}

/// A function that makes calls with random arguments.
using Fuzzed = void (*)(FuzzedDataProvider& input, Arena& arena);

/// Calls one of the functions, which the input chooses, with a new arena.
int fuzz_one_of(std::initializer_list<Fuzzed> functions, const std::uint8_t* data,
                std::size_t size);

}  // namespace posenc::fuzz
