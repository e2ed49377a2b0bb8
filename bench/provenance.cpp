#include "provenance.h"

#include "cli/table.h"

#include "posenc/cpu.h"
#include "posenc/version.h"
#include "posenc_commit.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <utility>

namespace posenc::bench {
namespace {

std::string further_lines;

std::string cache_size(std::int64_t bytes) {
  if (bytes <= 0) return "unknown";
  constexpr std::int64_t mebibyte = 1 << 20;
  return bytes % mebibyte == 0 ? fmt::format("{} MiB", bytes / mebibyte)
                               : fmt::format("{} KiB", bytes >> 10);
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

/// Who gets huge pages: "always" everybody, "madvise" those who ask, "never" nobody.
std::string huge_pages() {
  std::string word;
  for (std::ifstream modes("/sys/kernel/mm/transparent_hugepage/enabled"); modes >> word;) {
    if (word.starts_with('[')) return word.substr(1, word.size() - 2);
  }
  return "unknown";
}

/// The text behind its name, in lines of at most 100 columns.
std::string header_line(std::string_view name, std::string_view text) {
  return cli::wrapped(text, "        ").replace(0, name.size(), name);
}

}  // namespace

void add_provenance() {
  static bool is_added = false;  // Google Benchmark keeps it for the whole process.
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

void add_header_line(const std::string& name, const std::string& text) {
  static std::set<std::string> names;
  if (!names.insert(name).second) return;
  further_lines += header_line(name, text);
  benchmark::AddCustomContext(name, text);
}

std::string header(std::string_view notes) {
  return fmt::format(
      "cpu     {}\n"
      "        {}; {}; huge pages: {}\n"
      "build   posenc {}, commit {}; {}, {}; xsimd {}, Google Benchmark {}\n"
      "{}"
      "medians; IQR/2: half the interquartile range over the median\n"
      "{}\n",
      cpu().model, isas(), caches(), huge_pages(), library_version(), POSENC_COMMIT, compiler(),
      compiler_flags(), xsimd_version(), POSENC_BENCHMARK_VERSION, further_lines, notes);
}

}  // namespace posenc::bench
