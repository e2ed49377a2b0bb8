/// @file
/// The threads that share the work of a call: posenc's own, or the threads of an engine.
///
///     encoder->encode(rows, table.view(), 4);
///     encoder->encode(rows, table.view(), posenc::Threads(4, engine));
#pragma once

#include "posenc/cxx20.h"

#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

namespace posenc {

/// The threads of an engine, which share the work of calls in place of posenc's own threads.
class EngineThreads {
 public:
  virtual ~EngineThreads() = default;

  /// Calls piece(0), piece(1), ... piece(count - 1), each once, and returns when all these calls
  /// have returned. The calls may run in any order and in any threads, also in the calling thread.
  /// A piece does not throw. If this function throws, the call that it works for throws the same
  /// exception. The pieces that have begun must have ended by then.
  virtual void run(int count, const std::function<void(int)>& piece) = 0;
};

/// How many threads share the work of a call, and which threads. Results do not depend on them.
struct Threads {
  Threads() = default;  ///< the calling thread
  /// At most `most` of posenc's own threads, the calling thread included. The conversion is
  /// implicit, so that encode(rows, out, 4) uses 4 threads. Any type of integers is allowed, such
  /// as the type of std::thread::hardware_concurrency().
  template <class Number>
  requires(std::is_integral_v<Number> && !std::is_same_v<Number, bool>) Threads(Number most)
  noexcept  // NOLINT
      : count(std::in_range<int>(most) ? static_cast<int>(most)
              : most > 0               ? std::numeric_limits<int>::max()
                                       : std::numeric_limits<int>::min()) {}
  /// A fraction is not a number of threads: encode(rows, spec, 1e-6) does not compile.
  template <class Number>
  requires(std::is_floating_point_v<Number> || std::is_same_v<Number, bool>) Threads(Number)
  = delete;
  /// The work is divided into at most `most` pieces of nearly equal size, which the engine runs.
  /// The engine must outlive the call.
  template <class Number>
  Threads(Number most, EngineThreads& owner) noexcept : Threads(most) {
    engine = &owner;
  }

  /// Upper limit, 1 to 2^31 - 1. Fewer threads are used if more would not help.
  int count = 1;
  EngineThreads* engine = nullptr;  ///< null: posenc's own threads
};

}  // namespace posenc
