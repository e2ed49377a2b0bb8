#include "posenc/cpu.h"

#include "posenc/support/enum_names.h"
#include "posenc/support/system.h"

#include <algorithm>
#include <cstddef>
#include <fstream>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace posenc {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  // Leaves all registers 0 if the CPU does not have the leaf.
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

/// The register states that the operating system saves on a context switch (XCR0). Vector registers
/// cannot be used unless it saves them.
std::uint64_t saved_states() {
  constexpr unsigned osxsave = 1u << 27;
  if ((cpuid(1).c & osxsave) == 0) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

std::vector<Isa> detect_isas() {
  std::vector<Isa> isas = {Isa::portable, Isa::sse2};
  constexpr unsigned fma = 1u << 12, avx = 1u << 28, f16c = 1u << 29;  // leaf 1, ecx
  constexpr unsigned avx2 = 1u << 5, f = 1u << 16, dq = 1u << 17, cd = 1u << 28,
                     bw = 1u << 30;                              // leaf 7, ebx
  constexpr std::uint64_t ymm_states = 0x06, zmm_states = 0xe6;  // XCR0
  const unsigned one = cpuid(1).c;
  const unsigned seven = cpuid(7).b;
  const std::uint64_t states = saved_states();
  const auto has = [](auto value, auto bits) { return (value & bits) == bits; };
  if (!has(states, ymm_states) || !has(one, fma | avx | f16c) || !has(seven, avx2)) return isas;
  isas.push_back(Isa::avx2);
  if (has(states, zmm_states) && has(seven, f | dq | cd | bw)) isas.push_back(Isa::avx512);
  return isas;
}

std::string detect_model() {
  if (cpuid(0x80000000).a < 0x80000004) return "x86-64";
  std::string model;
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    const Registers r = cpuid(leaf);
    for (const unsigned word : {r.a, r.b, r.c, r.d}) {
      for (unsigned byte = 0; byte < 4; ++byte)
        model.push_back(static_cast<char>(word >> (8 * byte)));
    }
  }
  model.resize(model.find('\0') == std::string::npos ? model.size() : model.find('\0'));
  model.erase(0, model.find_first_not_of(' '));
  model.erase(model.find_last_not_of(' ') + 1);
  // Virtual machines shorten the name, so that different CPUs may share it. Family, model and
  // stepping distinguish them.
  const unsigned signature = cpuid(1).a;
  const unsigned family = ((signature >> 8) & 0xf) + ((signature >> 20) & 0xff);
  const unsigned number = ((signature >> 4) & 0xf) | ((signature >> 12) & 0xf0);
  return format_text("{} (family {}, model {}, stepping {})", model, family, number,
                     signature & 0xf);
}

#else

std::vector<Isa> detect_isas() {
#if defined(__aarch64__)
  return {Isa::portable, Isa::neon64};  // Advanced SIMD is part of the AArch64 baseline
#else
  return {Isa::portable};
#endif
}

#if defined(__aarch64__)
constexpr std::string_view architecture = "AArch64";
#elif defined(__wasm__)
constexpr std::string_view architecture = "WebAssembly";
#elif defined(__riscv)
constexpr std::string_view architecture = "RISC-V";
#elif defined(__powerpc64__)
constexpr std::string_view architecture = "POWER";
#elif defined(__s390x__)
constexpr std::string_view architecture = "z/Architecture";
#elif defined(__loongarch64)
constexpr std::string_view architecture = "LoongArch";
#else
constexpr std::string_view architecture = "64-bit processor";
#endif

/// The architecture, and the processor's details in /proc/cpuinfo. Each architecture has other
/// keys.
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

constexpr auto shape_names = enum_names<ShapeClass>("shape class", "l1", "l2", "l3", "memory");

}  // namespace

const Cpu& cpu() {
  // Never freed, so that it is valid while the process exits.
  static const Cpu& detected = *new Cpu{detect_model(), detect_isas(),  cache_bytes(1),
                                        cache_bytes(2), cache_bytes(3), std::max(1, usable_cpus())};
  return detected;
}

bool cpu_has(Isa isa) noexcept { return std::ranges::count(cpu().isas, isa) > 0; }

std::string_view to_string(ShapeClass shape) noexcept { return shape_names[shape]; }

ShapeClass shape_class(std::int64_t table_bytes, const Cpu& machine) {
  // If the system does not know a size, that of a common CPU is used.
  const auto known = [](std::int64_t bytes, std::int64_t typical) {
    return bytes > 0 ? bytes : typical;
  };
  if (table_bytes <= known(machine.l1_bytes, 32 << 10)) return ShapeClass::l1;
  if (table_bytes <= known(machine.l2_bytes, 1 << 20)) return ShapeClass::l2;
  if (table_bytes <= known(machine.l3_bytes, 32 << 20)) return ShapeClass::l3;
  return ShapeClass::memory;
}

}  // namespace posenc
