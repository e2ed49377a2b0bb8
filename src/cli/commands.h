// The subcommands of posenc.
#pragma once

#include "cli/subcommand.h"

namespace posenc::cli {

/// Exit codes of the command.
inline constexpr int good = 0;
inline constexpr int check_failed = 1;
inline constexpr int bad_input = 2;

/// The whole command: parses, acts, reports what went wrong, returns an exit code. Programs that
/// register backends of their own call it after that.
int run_command(int argc, char** argv);

// Each adds its subcommand, which sets `action` when it is chosen.
void add_list_command(CLI::App& app, Action& action);
void add_accuracy_command(CLI::App& app, Action& action);
void add_pick_command(CLI::App& app, Action& action);
void add_profile_command(CLI::App& app, Action& action);
void add_generate_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);

}  // namespace posenc::cli
