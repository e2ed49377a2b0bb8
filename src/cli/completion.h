// Completion in bash.
#pragma once

#include "cli/subcommand.h"

namespace posenc::cli {

/// Adds `--completion bash`, which help does not show: it writes a script for bash that completes
/// subcommands, options, files, and the values of options that name something.
void add_completion_option(CLI::App& app, Action& action);

}  // namespace posenc::cli
