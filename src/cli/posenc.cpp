// The posenc command.
#include "cli/commands.h"

int main(int argc, char** argv) { return posenc::cli::run_command(argc, argv); }
