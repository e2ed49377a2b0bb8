#include "posenc/support/clocks.h"

#include <fstream>
#include <string>

#include <time.h>
#include <unistd.h>

namespace posenc::detail {

double thread_seconds() noexcept {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double stolen_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> word >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return file && word == "cpu" && ticks > 0 ? steal / ticks : 0;
}

}  // namespace posenc::detail
