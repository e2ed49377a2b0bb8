#include "posenc/support/environment.h"

namespace posenc {

std::vector<std::string> program_arguments(int argc, char** argv) {
  return argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

}  // namespace posenc
