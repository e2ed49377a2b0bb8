#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace posenc::cli {
namespace {

constexpr int bar_width = 30;
constexpr auto start_after = std::chrono::milliseconds(300);
constexpr auto redraw_after = std::chrono::milliseconds(100);

}  // namespace

Progress::Progress(bool wanted)
    : is_wanted_(wanted && ::isatty(STDERR_FILENO) == 1), next_(Clock::now() + start_after) {}

Progress::~Progress() {
  if (is_shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::operator()(double share, std::string_view doing) {
  const auto now = Clock::now();
  if (!is_wanted_ || now < next_) return;
  next_ = now + redraw_after;
  is_shown_ = true;
  const double done = std::clamp(share, 0.0, 1.0);
  const auto filled = static_cast<int>(done * bar_width);
  fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {:3.0f} %  {}", "", filled, "", bar_width - filled, 100 * done, doing);
  std::fflush(stderr);
}

}  // namespace posenc::cli
