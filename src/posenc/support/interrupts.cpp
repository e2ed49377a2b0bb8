#include "posenc/support/interrupts.h"

#include <csignal>
#include <iterator>

namespace posenc::detail {
namespace {

constexpr int interrupting_signals[] = {
    SIGINT,
    SIGTERM,
#ifdef SIGHUP
    SIGHUP,
#endif
#ifdef SIGBREAK
    SIGBREAK,
#endif
};

volatile std::sig_atomic_t caught_signal = 0;

// Windows calls it in a thread of its own, after it has reset the handler.
void remember(int signal) {
  caught_signal = signal;
  std::signal(signal, remember);
}

}  // namespace

struct Uninterrupted::Actions {
  void (*of[std::size(interrupting_signals)])(int);
};

Uninterrupted::Uninterrupted() : old_(new Actions) {
  for (std::size_t i = 0; i < std::size(interrupting_signals); ++i) {
    old_->of[i] = std::signal(interrupting_signals[i], remember);
    if (old_->of[i] == SIG_IGN) std::signal(interrupting_signals[i], SIG_IGN);  // as under nohup
  }
}

Uninterrupted::~Uninterrupted() {
  for (std::size_t i = 0; i < std::size(interrupting_signals); ++i)
    std::signal(interrupting_signals[i], old_->of[i]);
  const int signal = caught_signal;
  caught_signal = 0;
  if (signal != 0) std::raise(signal);
}

bool was_interrupted() noexcept { return caught_signal != 0; }

}  // namespace posenc::detail
