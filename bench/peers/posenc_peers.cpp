// The posenc command with the peers registered first.
#include "peers.h"

#include "cli/commands.h"

int main(int argc, char** argv) {
  posenc::peers::register_peers();
  return posenc::cli::run_command(argc, argv);
}
