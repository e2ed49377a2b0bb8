#include "support.h"

#include "groups.h"
#include "results.h"
#include "table_reporter.h"

#include "cli/escape.h"
#include "cli/parse_error.h"

#include "posenc/cpu.h"
#include "posenc/tuning/accuracy.h"
#include "posenc/version.h"
#include "posenc_commit.h"
#include "store_bandwidth.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace posenc::bench {
namespace {

bool any_refused = false;
std::string further_header_lines;

// Medians of nine, interleaved at random against drift; every repetition stays in the file of
// --benchmark_out.
constexpr std::array default_flags = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"--benchmark_enable_random_interleaving=", "true"},
    {"--benchmark_repetitions=", "9"},
    {"--benchmark_min_time=", POSENC_BENCHMARK_MIN_TIME},
    {"--benchmark_display_aggregates_only=", "false"},
});

constexpr const char* footer =
    "Options of Google Benchmark are taken too, such as:\n"
    "  --benchmark_filter=REGEX          only benchmarks whose names match\n"
    "  --benchmark_list_tests            names only, no run\n"
    "  --benchmark_repetitions=N         9 unless given\n"
    "  --benchmark_min_time=SECONDS      of one repetition, 0.05 unless given\n"
    "  --benchmark_out=FILE              every repetition and its aggregates, as JSON\n"
    "  --benchmark_format=json|console   the same on standard output, in the place of the table";

std::string cache_size(std::int64_t bytes) {
  if (bytes <= 0) return "unknown";
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

std::string caches() {
  return fmt::format("L1d {}, L2 {}, L3 {}", cache_size(cpu().l1_bytes), cache_size(cpu().l2_bytes),
                     cache_size(cpu().l3_bytes));
}

std::string isas() {
  std::string names;
  for (const Isa isa : cpu().isas)
    names += fmt::format("{}{}", names.empty() ? "" : " ", to_string(isa));
  return names;
}

/// Whether memory may come in huge pages: "always", to those who ask ("madvise"), or "never".
std::string huge_pages() {
  std::string word;
  for (std::ifstream modes("/sys/kernel/mm/transparent_hugepage/enabled"); modes >> word;) {
    if (word.starts_with('[')) return word.substr(1, word.size() - 2);
  }
  return "unknown";
}

/// Lines of at most 100 columns, those after the first indented as the header's are.
std::string wrapped(std::string text) {
  constexpr std::size_t columns = 100;
  std::string lines;
  while (text.size() > columns) {
    const std::size_t space = text.find_last_of(' ', columns);
    if (space == std::string::npos || space < columns / 2)
      break;  // a word that is longer than a line
    lines += text.substr(0, space) + '\n';
    text = fmt::format("{:<8}{}", "", text.substr(space + 1));
  }
  return lines + text + '\n';
}

/// Once: Google Benchmark keeps it for the whole process.
void add_context() {
  static bool is_added = false;
  if (std::exchange(is_added, true)) return;
  benchmark::AddCustomContext("cpu", cpu().model);
  benchmark::AddCustomContext("isas", isas());
  benchmark::AddCustomContext("cache_sizes", caches());
  benchmark::AddCustomContext("huge_pages", huge_pages());
  benchmark::AddCustomContext("compiler", compiler());
  benchmark::AddCustomContext("compiler_flags", compiler_flags());
  benchmark::AddCustomContext("posenc_version", library_version());
  benchmark::AddCustomContext("posenc_commit", POSENC_COMMIT);
  benchmark::AddCustomContext("xsimd_version", xsimd_version());
  benchmark::AddCustomContext("benchmark_version", POSENC_BENCHMARK_VERSION);
}

std::string header(std::string_view notes) {
  return fmt::format(
      "cpu     {}\n"
      "        {}; {}; huge pages: {}\n"
      "build   posenc {}, commit {}; {}, {}; xsimd {}, Google Benchmark {}\n"
      "{}"
      "medians; relative_iqr: half the interquartile range over the median\n"
      "{}\n",
      cpu().model, isas(), caches(), huge_pages(), library_version(), POSENC_COMMIT, compiler(),
      compiler_flags(), xsimd_version(), POSENC_BENCHMARK_VERSION, further_header_lines, notes);
}

/// Google Benchmark 1.8 wants a unit, and 1.7 none.
std::string with_unit_of_time(std::string argument) {
  constexpr bool has_unit = std::string_view(POSENC_BENCHMARK_MIN_TIME).ends_with('s');
  if (!argument.starts_with("--benchmark_min_time=")) return argument;
  const bool is_given = argument.ends_with('s');
  const bool is_number = std::isdigit(static_cast<unsigned char>(argument.back())) != 0;
  if (has_unit && is_number) argument += 's';
  if (!has_unit && is_given) argument.pop_back();
  return argument;
}

/// Google Benchmark takes the arguments that are left.
void initialize(const CLI::App& app, char* program, std::vector<std::string> arguments) {
  for (const auto& flag : default_flags) {
    const bool is_given = std::ranges::any_of(
        arguments, [&flag](const std::string& each) { return each.starts_with(flag.first); });
    if (!is_given)
      arguments.insert(arguments.begin(), fmt::format("{}{}", flag.first, flag.second));
  }
  // The file is written here: Google Benchmark would begin it anew with every group.
  const bool has_file = flag_value("benchmark_out", arguments).has_value();
  arguments.push_back(has_file ? "--benchmark_out=/dev/null" : "--benchmark_out=");
  arguments.push_back("--benchmark_out_format=json");
  if (!flag_value("benchmark_format", arguments)) {
    arguments.push_back(
        "--benchmark_display_aggregates_only=true");  // the table has a line of each
  }
  std::ranges::transform(arguments, arguments.begin(), with_unit_of_time);
  static std::vector<std::string> kept;  // by Google Benchmark, for its context
  kept = std::move(arguments);
  std::vector<char*> pointers = {program};
  for (std::string& argument : kept) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) throw InvalidArgument(cli::unknown_argument(app, pointers[1]));
}

/// CLI11 2.5 would join the lines of the footer.
template <class Formatter>
void keep_lines(Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
    formatter.enable_description_formatting(false);
  }
}

/// Shows the results on standard output: in the table, or as --benchmark_format says. Returns how
/// many ran.
std::size_t run_and_show(std::string_view notes, const std::vector<std::string>& arguments,
                         benchmark::BenchmarkReporter* file) {
  if (!flag_value("benchmark_format", arguments)) {
    TableReporter table(header(notes));
    return run_groups(table, file);
  }
  benchmark::JSONReporter json;
  const bool is_json = flag_value("benchmark_format", arguments) == "json";
  JoiningReporter joining(is_json ? json : *benchmark::CreateDefaultDisplayReporter(),
                          longest_name());
  const std::size_t matched = run_groups(joining, file);
  joining.finish();
  return matched;
}

int parse_and_run(int argc, char** argv, CLI::App& app, std::string_view notes,
                  const std::function<void()>& register_benchmarks) {
  app.footer(footer);
  app.allow_extras();
  parse(argc, argv, app);
  const std::vector<std::string> rest = app.remaining();
  check_format("benchmark_format", rest);
  check_format("benchmark_out_format", rest);
  initialize(app, argv[0], rest);
  add_context();
  register_benchmarks();
  const std::string filter = flag_value("benchmark_filter", rest).value_or("all");
  const std::string name(any_name());
  std::optional<ResultFile> file;
  if (const auto path = flag_value("benchmark_out", rest)) {
    file.emplace(*path, flag_value("benchmark_out_format", rest).value_or("json"));
  }
  const std::size_t matched = run_and_show(notes, rest, file ? &file->reporter() : nullptr);
  show_progress("");
  if (matched == 0) {
    throw InvalidArgument(
        fmt::format("--benchmark_filter is '{}'; allowed: a regular expression that is found in a "
                    "name, such as {}",
                    filter, name));
  }
  if (file) file->finish();
  return any_refused ? 1 : 0;
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

int run(int argc, char** argv, const Program& program, const AddOptions& add_options,
        const std::function<void()>& register_benchmarks) {
  CLI::App app(program.description, program.name);
  if (add_options) add_options(app);
  try {
    return parse_and_run(argc, argv, app, program.notes, register_benchmarks);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    return report(app, error);
  }
}

void add_header_line(const std::string& name, const std::string& text) {
  static std::set<std::string> names;
  if (!names.insert(name).second) return;
  further_header_lines += wrapped(fmt::format("{:<8}{}", name, text));
  benchmark::AddCustomContext(name, text);
}

CheckedEncoder::CheckedEncoder(const Backend& backend, const EncodingSpec& spec, RowRange rows,
                               DataType type)
    : backend_(&backend), spec_(spec), rows_(rows), type_(type) {}

const Encoder* CheckedEncoder::get(benchmark::State& state) {
  if (!encoder_) {
    encoder_ = backend_->plan(spec_);
    error_ = verify(*encoder_, rows_, type_);
  }
  if (error_.empty()) return encoder_.get();
  any_refused = true;
  state.SkipWithError(error_.c_str());
  return nullptr;
}

std::vector<std::int64_t> swept_bytes() {
  constexpr std::int64_t smallest = 16 << 10, largest = 256 << 20, typical_l3 = 32 << 20;
  const std::int64_t l3 = cpu().l3_bytes > 0 ? cpu().l3_bytes : typical_l3;
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = smallest; bytes <= std::min(4 * l3, largest); bytes *= 4)
    sizes.push_back(bytes);
  return sizes;
}

float* warm_memory(std::int64_t bytes) {
  static Matrix memory;
  const std::int64_t floats = (bytes + 3) / 4;
  if (memory.rows() < floats) memory = Matrix(floats, 1);
  store_loop(memory.data(), bytes);
  return memory.data();
}

void time_copy(benchmark::State& state, std::int64_t bytes) {
  // Both halves of the warm memory, so that the copied table is as warm as one that is kept would
  // be.
  const std::int64_t aligned_bytes = (bytes + 63) / 64 * 64;
  float* destination = warm_memory(2 * aligned_bytes);
  const float* const source = destination + aligned_bytes / 4;
  for (auto _ : state) {
    copy_loop(destination, source, bytes);
    benchmark::DoNotOptimize(destination);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * bytes / 4);
  state.SetBytesProcessed(state.iterations() * bytes);
}

}  // namespace posenc::bench
