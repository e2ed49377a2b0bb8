// The subcommands of posenc, and the functions that several of them share.
#pragma once

#include "cli/options.h"
#include "cli/output.h"
#include "cli/report.h"

#include "posenc/suite/measure.h"

namespace posenc::cli {

/// Exit codes of the command.
inline constexpr int good = 0;
inline constexpr int check_failed = 1;
inline constexpr int bad_input = 2;

/// Runs the whole command and returns its exit code. A program with backends of its own registers
/// them first.
int run_command(int argc, char** argv);

/// Parses arguments that may contain the options of this subcommand only. If they ask for help,
/// prints it and returns nothing. Throws InvalidArgument.
std::optional<Options> read_options(const Subcommand& subcommand, const Names& arguments);

Subcommand list_command();
Subcommand accuracy_command();
Subcommand measure_command();
Subcommand pick_command();
Subcommand generate_command();
Subcommand check_command();
Subcommand compare_command();

/// The tables that the options name; by default, tables of all sizes.
std::vector<suite::MeasuredTable> tables_to_measure(const Options& options);

/// Measures in several processes and shows the progress. If no process can be started, it measures
/// in this process, and the document gives the reason.
suite::Measurements measure_here(const Options& options);

/// True if --backend and --isa select this backend.
bool counts(const Options& options, const suite::MeasuredBackend& backend);

/// The rows of the document that the options ask for, the limits of their tables, and the rows that
/// show how noisy the times are. `name` names the document in messages. Throws InvalidArgument if a
/// value matches no row, or if the document has no times.
suite::Measurements rows_asked_for(const Options& options, const std::string& name,
                                   suite::Measurements document);

/// Caveats about the document's times, one sentence each; empty if there are none.
std::string notes_of(const suite::Measurements& document);

using TimeRows = std::function<suite::Timing(const suite::TimingRequest&)>;

/// Times each request in a new process of this program. If the first process cannot be run, as in
/// some sandboxes and emulators, or if the system starts no processes, it times in this process.
/// `why_one_process` then says why; it must outlive the result.
TimeRows time_in_own_processes(std::string& why_one_process);

/// Prints a line on standard error for every backend that breaks its bound. Returns the exit code.
int check_promises(const suite::Measurements& document);

#ifdef POSENC_STARTS_PROCESSES
/// Runs the posenc command `program`, which answers the request. Throws std::runtime_error on
/// failure.
suite::Timing time_by_program(const std::string& program, const suite::TimingRequest& request);

/// Keeps argv[0]. On systems without /proc, this program starts itself again by that name.
void remember_program(const char* name);

/// If this is its only argument, the program answers a request of posenc measure: it reads the rows
/// from standard input, times them, and writes the result. Returns an exit code.
inline constexpr const char* timing_argument = "--time-on-request";
int time_on_request();
#endif

}  // namespace posenc::cli
