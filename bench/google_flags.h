// The flags of Google Benchmark that these programs take.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {

/// What is left of the command line by the program's own options: flags of Google Benchmark.
using Flags = std::vector<std::string>;

/// The value of a flag such as "benchmark_out": the last one given, else that of the environment
/// (BENCHMARK_OUT). None if it is empty.
std::optional<std::string> flag_value(std::string_view flag, const Flags& flags);

/// Whether a flag that is true or false is given, and not as false.
bool is_set(std::string_view flag, const Flags& flags);

/// Throws InvalidArgument if the flag has a value that is no format.
void check_format(std::string_view flag, const Flags& flags);

/// Hands the flags to Google Benchmark, with this project's defaults for those that are not given.
/// Returns the first argument that it does not know, empty if there is none.
std::string initialize_google_benchmark(char* program, Flags flags);

/// What --help says of them.
extern const char* const google_flags_help;

}  // namespace posenc::bench
