// Progress of long work, with an estimate of the time left, on standard error if that is a
// terminal.
#pragma once

#include <chrono>
#include <string_view>

namespace posenc::cli {

class Progress {
 public:
  explicit Progress(bool wanted = true);
  ~Progress();  ///< clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void operator()(double share, std::string_view doing);

 private:
  using Clock = std::chrono::steady_clock;

  bool is_wanted_;
  bool is_shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;  ///< of the next drawing: late enough that short work shows nothing
};

}  // namespace posenc::cli
