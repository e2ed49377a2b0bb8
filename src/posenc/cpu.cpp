#include "posenc/cpu.h"

#include "posenc/support/format.h"
#include "posenc/support/made_once.h"
#include "posenc/support/system.h"
#include "posenc/version_config.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <fstream>
#include <memory>
#include <span>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace posenc {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf) {
  Registers r;
  // If the CPU does not have the leaf, all registers stay 0.
  __get_cpuid(leaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

constexpr Isa isas_in_order[] = {Isa::portable, Isa::sse2, Isa::avx2, Isa::avx512};

/// The instruction sets of this CPU whose registers the operating system saves, too.
std::span<const Isa> detect_isas() noexcept {
  __builtin_cpu_init();
  const bool has_f16c = (cpuid(1).c >> 29 & 1) != 0;  // clang 14 does not know the name
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c;
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return std::span(isas_in_order).first(has_avx512 ? 4 : has_avx2 ? 3 : 2);
}

std::string detect_model() {
  if (cpuid(0x80000000).a < 0x80000004) return "x86-64";
  std::array<Registers, 4> text{};  // the last registers stay 0 and end the text
  for (unsigned i = 0; i < 3; ++i) text[i] = cpuid(0x80000002 + i);
  std::string model(reinterpret_cast<const char*>(text.data()));
  model.erase(0, model.find_first_not_of(' '));
  model.erase(model.find_last_not_of(' ') + 1);
  // Virtual machines shorten the name, so different CPUs may share it. Family, model and stepping
  // distinguish them.
  const unsigned signature = cpuid(1).a;
  const unsigned family = ((signature >> 8) & 0xf) + ((signature >> 20) & 0xff);
  const unsigned number = ((signature >> 4) & 0xf) | ((signature >> 12) & 0xf0);
  return format_text("{} (family {}, model {}, stepping {})", model, family, number,
                     signature & 0xf);
}

#else

#if defined(__aarch64__)
constexpr std::string_view architecture = "AArch64";
#elif defined(__wasm__)
constexpr std::string_view architecture = "WebAssembly";
#else
constexpr std::string_view architecture = POSENC_PROCESSOR;
#endif

constexpr Isa isas_in_order[] = {Isa::portable, Isa::neon64};

std::span<const Isa> detect_isas() noexcept {
  return std::span(isas_in_order).first(architecture == "AArch64" ? 2 : 1);
}

/// The architecture, and the processor's details from /proc/cpuinfo. Each architecture has its own
/// keys there.
std::string detect_model() {
  std::ifstream info("/proc/cpuinfo");
  std::string details;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    for (const std::string_view key :
         {"CPU implementer", "CPU part", "cpu", "uarch", "Model Name"}) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos || !line.starts_with(key)) continue;
      if (line.find_first_not_of(" \t", key.size()) != colon) continue;
      details += format_text("{}{} {}", details.empty() ? "" : ", ", key,
                             line.substr(std::min(line.size(), colon + 2)));
    }
  }
  return details.empty() ? std::string(architecture)
                         : format_text("{} ({})", architecture, details);
}

#endif

}  // namespace

const Cpu& cpu() {
  static std::atomic<const Cpu*> detected = nullptr;
  return made_once(detected, [] {
    const auto isas = detect_isas();
    return std::make_unique<const Cpu>(Cpu{detect_model(),
                                           {isas.begin(), isas.end()},
                                           cache_bytes(1),
                                           cache_bytes(2),
                                           cache_bytes(3),
                                           std::max(1, usable_cpus())});
  });
}

bool cpu_has(Isa isa) noexcept {
  static std::atomic<std::size_t> known = 0;  // allocates nothing, unlike cpu()
  if (known == 0) known = detect_isas().size();
  return std::ranges::count(std::span(isas_in_order).first(known), isa) > 0;
}

}  // namespace posenc
