#include "google_flags.h"

#include "posenc/error.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace posenc::bench {
namespace {

// Medians of nine, interleaved at random against drift.
const Flags defaults = {
    "--benchmark_enable_random_interleaving=true",
    "--benchmark_repetitions=9",
    "--benchmark_min_time=" POSENC_BENCHMARK_MIN_TIME,
};

// Filtering, files and the choice of runs that are shown are this project's: the ratios need every
// repetition, and Google Benchmark would begin the file anew with every group.
const Flags overrides = {
    "--benchmark_filter=.",
    "--benchmark_out=",
    "--benchmark_out_format=json",
    "--benchmark_report_aggregates_only=false",
    "--benchmark_display_aggregates_only=false",
};

std::string from_environment(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
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

}  // namespace

const char* const google_flags_help =
    "Options of Google Benchmark are taken too, such as:\n"
    "  --benchmark_filter=REGEX          only benchmarks whose names match, and their baselines\n"
    "  --benchmark_list_tests            names only, no run\n"
    "  --benchmark_repetitions=N         9 unless given\n"
    "  --benchmark_min_time=SECONDS      of one repetition, 0.05 unless given\n"
    "  --benchmark_out=FILE              every repetition and its aggregates, as JSON\n"
    "  --benchmark_format=json|console   the same on standard output, instead of the table";

std::optional<std::string> flag_value(std::string_view flag, const Flags& flags) {
  const std::string begin = fmt::format("--{}=", flag);
  std::string value = from_environment(std::string(flag));
  for (const std::string& each : flags) {
    if (each.starts_with(begin)) value = each.substr(begin.size());
  }
  return value.empty() ? std::nullopt : std::optional(value);
}

bool is_set(std::string_view flag, const Flags& flags) {
  const bool is_bare = std::ranges::count(flags, fmt::format("--{}", flag)) > 0;
  const std::string value = flag_value(flag, flags).value_or(is_bare ? "true" : "false");
  return std::string_view("0fFnN").find(value.front()) == std::string_view::npos && value != "off";
}

void check_format(std::string_view flag, const Flags& flags) {
  const std::string format = flag_value(flag, flags).value_or("json");
  if (format == "json" || format == "console") return;
  throw InvalidArgument(fmt::format("--{} is '{}'; allowed: json, console", flag, format));
}

std::string initialize_google_benchmark(char* program, Flags flags) {
  static Flags kept;  // Google Benchmark keeps pointers to them, for its context.
  kept = defaults;
  kept.insert(kept.end(), flags.begin(), flags.end());
  kept.insert(kept.end(), overrides.begin(), overrides.end());
  std::ranges::transform(kept, kept.begin(), with_unit_of_time);
  std::vector<char*> pointers = {program};
  for (std::string& flag : kept) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  return count > 1 ? pointers[1] : "";
}

}  // namespace posenc::bench
