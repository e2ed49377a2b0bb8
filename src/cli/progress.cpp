#include "cli/progress.h"

#include "posenc/support/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace posenc::cli {
namespace {

constexpr int bar_width = 30;
constexpr auto start_after = std::chrono::milliseconds(300);
constexpr auto redraw_after = std::chrono::milliseconds(100);

/// Share of the work after which the time left is estimated.
constexpr double least_share = 0.05;

/// The estimate; empty if too little is done.
std::string left_text(double seconds, double done) {
  if (done < least_share) return "";
  const auto left = static_cast<int>(std::ceil(seconds * (1 - done) / done));
  return left < 60 ? fmt::format("{} s left", left)
                   : fmt::format("{} min {:02} s left", left / 60, left % 60);
}

/// Replaces the line. A terminal that has gone is no reason to stop.
void show(const std::string& line) {
  const std::string text = "\r\033[K" + line;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(bool wanted)
    : is_wanted_(wanted && is_terminal(standard_error)), next_(Clock::now() + start_after) {}

Progress::~Progress() {
  if (is_shown_) show("");
}

void Progress::operator()(double share, std::string_view doing) {
  const auto now = Clock::now();
  if (!is_wanted_ || now < next_) return;
  next_ = now + redraw_after;
  is_shown_ = true;
  const double done = std::clamp(share, 0.0, 1.0);
  const auto filled = static_cast<int>(done * bar_width);
  const std::string left = left_text(std::chrono::duration<double>(now - start_).count(), done);
  show(fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {}{}{}", "", filled, "", bar_width - filled,
                   100 * done, left, left.empty() ? "" : "  ", doing));
}

}  // namespace posenc::cli
