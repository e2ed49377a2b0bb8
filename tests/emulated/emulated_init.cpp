// The first process of an emulated machine (see test-avx512.sh). It runs /posenc_tests with the
// flags in /flags and its output on the second serial port, writes the exit code to the first
// serial port, and shuts the emulator down.
#include <cstdio>
#include <initializer_list>

#include <fcntl.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace {

int open_raw(const char* serial_port) {
  const int port = open(serial_port, O_RDWR | O_NOCTTY);
  termios settings;
  tcgetattr(port, &settings);
  cfmakeraw(&settings);
  tcsetattr(port, TCSANOW, &settings);
  return port;
}

void mount_at(const char* type, const char* folder) {
  mkdir(folder, 0755);
  mount(type, folder, type, 0, nullptr);
}

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main() {
  mount_at("devtmpfs", "/dev");
  mount_at("proc", "/proc");
  mount_at("sysfs", "/sys");
  mount_at("tmpfs", "/tmp");
  const int output = open_raw("/dev/ttyS1");
  int status = 0;
  if (const pid_t tests = fork(); tests == 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execl("/posenc_tests", "posenc_tests", "--gtest_flagfile=/flags", nullptr);
    _exit(127);
  } else {
    waitpid(tests, &status, 0);
  }
  tcdrain(output);
  const int result = open_raw("/dev/ttyS0");
  dprintf(result, "%d\n", exit_code(status));
  tcdrain(result);
  // Bochs shuts down if "Shutdown" is written to this port of its "unmapped" device.
  constexpr unsigned short bochs_port = 0x8900;
  ioperm(bochs_port, 1, 1);
  for (const char letter : {'S', 'h', 'u', 't', 'd', 'o', 'w', 'n'}) {
    outb(static_cast<unsigned char>(letter), bochs_port);
  }
  for (;;) pause();
}
