// The subcommands of posenc, and the functions that several of them share.
#pragma once

#include "cli/options.h"
#include "cli/output.h"
#include "cli/report.h"

#include "posenc/suite/compare.h"
#include "posenc/suite/measure.h"

#include <functional>

namespace posenc::cli {

/// Exit codes of the command.
inline constexpr int good = 0;
inline constexpr int check_failed = 1;
inline constexpr int bad_input = 2;

/// The second accuracy that pick shows by default.
inline constexpr double larger_error = 1e-6;

/// Runs the whole command and returns its exit code. A program with backends of its own registers
/// them first.
int run_command(int argc, char** argv);

/// A command line as typed, and what it answers.
struct Example {
  std::string line, what;
};

/// Sets how the help of a program looks.
void set_help(CLI::App& app, const std::vector<Example>& examples);

/// Adds a subcommand that `run` executes.
CLI::App& add_command(CLI::App& program, Options& options, int (*run)(const Options& options),
                      const std::string& name, const std::string& description,
                      const std::vector<Example>& examples);

/// Parses the arguments. Returns false if they ask for the help or the version, after printing it.
/// Throws InvalidArgument.
bool parse(CLI::App& app, const Names& arguments);

void add_list_command(CLI::App& program, Options& options);
void add_accuracy_command(CLI::App& program, Options& options);
void add_measure_command(CLI::App& program, Options& options);
void add_pick_command(CLI::App& program, Options& options);
void add_compare_command(CLI::App& program, Options& options);
void add_generate_command(CLI::App& program, Options& options);
void add_check_command(CLI::App& program, Options& options);

/// The documents of docs/measured, in the order of their files. They are built into the program, so
/// that it needs no other file.
const std::vector<suite::Measurements>& known_documents();

/// The tables that the options name; by default, tables of all sizes.
std::vector<suite::MeasuredTable> tables_to_measure(const Options& options);

/// Measures in several processes and shows the progress. If no process can be started, it measures
/// in this process, and the document gives the reason.
suite::Measurements measure_here(const Options& options);

/// True if --backend and --isa select this backend.
bool counts(const Options& options, const suite::MeasuredBackend& backend);

/// The rows of the document that the options ask for, the limits of their tables, and the rows that
/// show how noisy the times are. `name` names the document in messages. Only backends for which
/// `runs` is true can be asked for. Throws InvalidArgument if a value matches no such row, or if
/// the document has no times.
suite::Measurements rows_asked_for(
    const Options& options, const std::string& name, suite::Measurements document,
    const std::function<bool(const suite::MeasuredBackend&)>& runs = [](const auto&) {
      return true;
    });

/// Caveats about the document's times, one sentence each; empty if there are none. The name of one
/// of several documents begins the text.
std::string notes_of(const suite::Measurements& document, const std::string& name = "");

/// The lines that tell where a document of several comes from.
std::string origin_text(const std::string& name, const std::string& file,
                        const suite::Measurements& document);

/// The rows that changed, the worst first; the others are counted.
std::string changes_page(const suite::Comparison& comparison);
suite::Json comparison_document(const Options& options, const suite::Comparison& comparison,
                                bool judges_times);

/// Shows the speeds of several machines side by side, without a verdict. Returns an exit code.
int compare_machines(const Options& options, const std::vector<suite::Measurements>& documents);

using TimeRows = std::function<suite::Timing(const suite::TimingRequest&)>;

/// Times each request in a new process of this program. If the first process cannot be run, as in
/// some sandboxes and emulators, or if the system starts no processes, it times in this process.
/// `why_one_process` then says why; it must outlive the result.
TimeRows time_in_own_processes(std::string& why_one_process);

/// Judges the table in a file, or the tensor of it, by what the options claim.
check::TableReport judged_table(const Options& options);

/// The tensors of a .safetensors file whose names are those of frequencies or of rotary caches.
Names model_tables(const std::string& file);

/// Judges these tensors of the file of a model, prints a line for each, and returns an exit code.
int check_model(const Options& options, const Names& tensors);

/// Prints a line on standard error for every backend that breaks its bound. Returns the exit code.
int check_promises(const suite::Measurements& document);

#ifdef POSENC_STARTS_PROCESSES
/// Runs the posenc command `program`, which answers the request. Throws std::runtime_error on
/// failure.
suite::Timing time_by_program(const std::string& program, const suite::TimingRequest& request);

/// Times two builds in turn and compares their times. Returns an exit code.
int compare_builds(const Options& options);

/// Keeps argv[0]. On systems without /proc, this program starts itself again by that name.
void remember_program(const char* name);

/// If this is its only argument, the program answers a request of posenc measure: it reads the rows
/// from standard input, times them, and writes the result. Returns an exit code.
inline constexpr const char* timing_argument = "--time-on-request";
int time_on_request();
#endif

}  // namespace posenc::cli
