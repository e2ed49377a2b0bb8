// The subcommands of posenc.
#pragma once

namespace CLI {
class App;
}

namespace posenc::cli {

struct Options;

/// Exit codes of the command.
inline constexpr int good = 0;
inline constexpr int check_failed = 1;
inline constexpr int bad_input = 2;

/// The whole command; returns its exit code. A program that registers backends of its own calls it
/// afterwards.
int run_command(int argc, char** argv);

// Each adds a subcommand that fills `options`, and sets Options::run if it is chosen.
void add_list(CLI::App& app, Options& options);
void add_accuracy(CLI::App& app, Options& options);
void add_measure(CLI::App& app, Options& options);
void add_pick(CLI::App& app, Options& options);
void add_generate(CLI::App& app, Options& options);
void add_check(CLI::App& app, Options& options);
void add_compare(CLI::App& app, Options& options);

}  // namespace posenc::cli
