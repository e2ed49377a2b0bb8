// The subcommands of posenc.
#pragma once

#include "cli/subcommand.h"

namespace posenc::cli {

/// Exit codes of the command.
inline constexpr int good = 0;
inline constexpr int check_failed = 1;
inline constexpr int bad_input = 2;

/// The whole command; returns its exit code. A program that registers backends of its own calls it
/// afterwards.
int run_command(int argc, char** argv);

// Each adds a subcommand that sets `action` if it is chosen.
void add_list_command(CLI::App& app, Action& action);
void add_accuracy_command(CLI::App& app, Action& action);
void add_measure_command(CLI::App& app, Action& action);
void add_pick_command(CLI::App& app, Action& action);
void add_generate_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);

}  // namespace posenc::cli
