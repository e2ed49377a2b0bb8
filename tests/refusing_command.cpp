// The posenc command with one more backend, which refuses rules of frequencies.
#include "cli/commands.h"

#include "fake_backend.h"

int main(int argc, char** argv) {
  posenc::register_backend(
      posenc::test::fake_method({.name = "picky", .can_be_picked = true, .refuses_rules = true}));
  return posenc::cli::run_command(argc, argv);
}
