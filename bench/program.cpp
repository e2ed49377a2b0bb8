#include "program.h"

#include "checked_encoder.h"
#include "google_flags.h"
#include "groups.h"
#include "outputs.h"
#include "provenance.h"
#include "table.h"

#include "cli/escape.h"
#include "cli/parse_error.h"

#include "posenc/error.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace posenc::bench {
namespace {

/// CLI11 2.5 would join the lines of the footer.
template <class Formatter>
void keep_lines(Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
    formatter.enable_description_formatting(false);
  }
}

/// The table, or what --benchmark_format asks for.
std::unique_ptr<Output> display_of(const Flags& flags, std::string_view notes, Shown by_default) {
  const auto format = flag_value("benchmark_format", flags);
  if (!format) return std::make_unique<TableOutput>(header(notes));
  const bool is_cut = is_set("benchmark_display_aggregates_only", flags);
  return std::make_unique<FormatOutput>(*format, is_cut ? Shown::aggregates : by_default);
}

/// Where the flags send the results: to standard output, and to the file of --benchmark_out.
std::vector<std::unique_ptr<Output>> outputs_of(const Flags& flags, std::string_view notes) {
  const bool is_cut = is_set("benchmark_report_aggregates_only", flags);
  const Shown shown = is_cut ? Shown::aggregates : Shown::all_runs;
  std::vector<std::unique_ptr<Output>> outputs;
  outputs.push_back(display_of(flags, notes, shown));
  if (const auto file = flag_value("benchmark_out", flags)) {
    outputs.push_back(std::make_unique<FileOutput>(
        *file, flag_value("benchmark_out_format", flags).value_or("json"), shown));
  }
  return outputs;
}

void run_benchmarks(const Flags& flags, std::string_view notes) {
  const std::vector<std::unique_ptr<Output>> outputs = outputs_of(flags, notes);
  std::vector<Output*> pointers;
  for (const auto& each : outputs) pointers.push_back(each.get());
  run_groups(flag_value("benchmark_filter", flags).value_or("all"), pointers);
  show_progress("");
  for (Output* output : pointers) output->end();
  if (!std::cout.flush()) throw std::runtime_error("standard output cannot be written");
}

int parse_and_run(int argc, char** argv, CLI::App& app, const Program& program) {
  app.footer(google_flags_help);
  app.allow_extras();
  parse(argc, argv, app);
  const Flags flags = app.remaining();
  check_format("benchmark_format", flags);
  check_format("benchmark_out_format", flags);
  const std::string unknown = initialize_google_benchmark(argv[0], flags);
  if (!unknown.empty()) throw InvalidArgument(cli::unknown_argument(app, unknown));
  add_provenance();
  program.register_benchmarks();
  run_benchmarks(flags, program.notes);
  return is_any_encoder_wrong() ? 1 : 0;
}

}  // namespace

void parse(int argc, char** argv, CLI::App& app) {
  keep_lines(*app.get_formatter());
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError&) {
    throw InvalidArgument(cli::parse_error(app, {argv + 1, argv + argc}));
  }
}

int report(const CLI::App& app, const std::exception& error) {
  show_progress("");
  fmt::print(stderr, "{}: {}\n", app.get_name(), cli::escaped(error.what()));
  return 2;
}

int run(int argc, char** argv, const Program& program) {
  CLI::App app(program.description, program.name);
  if (program.add_options) program.add_options(app);
  try {
    return parse_and_run(argc, argv, app, program);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    return report(app, error);
  }
}

}  // namespace posenc::bench
