// Where results come from.
#include "program.h"

#include "posenc/cpu.h"
#include "posenc/version.h"
#include "posenc_commit.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <fstream>
#include <string>

namespace posenc::bench {
namespace {

/// As the library sees them; 0 if unknown.
std::string caches() {
  return fmt::format("L1d {} KiB, L2 {} KiB, L3 {} KiB", cpu().l1_bytes >> 10, cpu().l2_bytes >> 10,
                     cpu().l3_bytes >> 10);
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

}  // namespace

void add_provenance() {
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

}  // namespace posenc::bench
