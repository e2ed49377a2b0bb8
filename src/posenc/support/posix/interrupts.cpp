#include "posenc/support/interrupts.h"

#include <csignal>
#include <vector>

namespace posenc {
namespace {

constexpr int interrupting_signals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t caught_signal = 0;

void remember(int signal) { caught_signal = signal; }

}  // namespace

struct Uninterrupted::Actions {
  struct One {
    int signal;
    struct sigaction action;
  };
  std::vector<One> all;
};

Uninterrupted::Uninterrupted() : old_(new Actions) {
  for (const int signal : interrupting_signals) {
    struct sigaction action = {};
    action.sa_handler = remember;
    Actions::One old = {signal, {}};
    ::sigaction(signal, nullptr, &old.action);
    if (old.action.sa_handler == SIG_IGN) continue;  // as under nohup
    ::sigaction(signal, &action, nullptr);
    old_->all.push_back(old);
  }
}

Uninterrupted::~Uninterrupted() {
  for (const Actions::One& old : old_->all) ::sigaction(old.signal, &old.action, nullptr);
  const int signal = caught_signal;
  caught_signal = 0;
  if (signal != 0) std::raise(signal);
}

bool was_interrupted() noexcept { return caught_signal != 0; }

}  // namespace posenc
