// The posenc command with the peers registered first.
#include "peers.h"

#include "cli/commands.h"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  posenc::peers::register_peers();
  const int code = posenc::cli::run_command(argc, argv);
  const std::string_view missing = posenc::peers::missing_peers();
  if (code == 0 && argc > 1 && std::string_view(argv[1]) == "list" && !missing.empty())
    std::fprintf(stderr, "posenc_peers: built without %s\n", missing.data());
  return code;
}
