// The subcommands of posenc.
#pragma once

#include "cli/options.h"

namespace posenc::cli {

/// Exit codes of the command.
inline constexpr int good = 0;
inline constexpr int check_failed = 1;
inline constexpr int bad_input = 2;

/// The whole command; returns its exit code. A program that registers backends of its own calls it
/// afterwards.
int run_command(int argc, char** argv);

Subcommand list_command();
Subcommand accuracy_command();
Subcommand measure_command();
Subcommand pick_command();
Subcommand generate_command();
Subcommand check_command();
Subcommand compare_command();

}  // namespace posenc::cli
