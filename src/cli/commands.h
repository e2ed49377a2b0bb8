// The subcommands of posenc, what each of them uses, and what measure and pick share.
#pragma once

#include "cli/options.h"
#include "cli/output.h"
#include "cli/report.h"

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

/// The tables of the presets, or tables of all sizes.
std::vector<MeasuredTable> tables_of(const Options& options);

/// Measures in several processes, and shows the progress.
Measurements measure_here(const Options& options);

/// A line on standard error for every backend that breaks its error bound; the exit code.
int check_promises(const Measurements& document);

#ifdef POSENC_STARTS_PROCESSES
/// Keeps argv[0], by which this program starts itself again on systems without /proc.
void remember_program(const char* name);

/// With this as its only argument, the program answers a request of posenc measure: it reads the
/// rows from standard input, times them, and writes the result. Returns an exit code.
inline constexpr const char* timing_argument = "--time-on-request";
int time_on_request();
#endif

}  // namespace posenc::cli
