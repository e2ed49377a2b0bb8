#include "posenc/simd/dispatch.h"

#include "posenc/cpu.h"

#include <vector>

namespace posenc::simd {

std::span<const IsaKernels> compiled_kernels() {
#define POSENC_ISA_KERNELS(isa) {Isa::isa, isa##_kernels()},
  // Never freed, so that it is valid while the process exits.
  static const auto& all = *new std::vector<IsaKernels>{POSENC_FOR_EACH_ISA(POSENC_ISA_KERNELS)};
#undef POSENC_ISA_KERNELS
  return all;
}

const Kernels& best_kernels() {
  static const Kernels* const best = [] {
    const Kernels* found = &scalar_kernels();
    for (const IsaKernels& each : compiled_kernels()) {
      if (cpu_has(each.isa)) found = &each.kernels;
    }
    return found;
  }();
  return *best;
}

NarrowPanels narrow_panels() noexcept {
#if defined(__x86_64__)
  // Measured beyond L2: on Sapphire Rapids, narrow panels are half as fast as wide ones. On Zen 5,
  // which has 48 KiB of L1, wide panels are 1.1 to 1.6 times as fast as narrow ones if rows are
  // whole pages apart. AMD's processors with less L1 get narrow panels, whose constants fit in it.
  static const NarrowPanels best = [] {
    constexpr std::int64_t large_l1 = 48 << 10;
    __builtin_cpu_init();
    if (__builtin_cpu_is("amd") == 0) return NarrowPanels::never;
    return cpu().l1_bytes >= large_l1 ? NarrowPanels::except_at_pages : NarrowPanels::always;
  }();
  return best;
#else
  return NarrowPanels::never;
#endif
}

bool has_fast_lines() noexcept {
#if defined(__x86_64__)
  // Speed by lines over that by rows from a buffer, AVX2, rotation at 8192 x 4096: 1.3 on Zen 4,
  // 1.45 on Zen 5, 1.35 on an Intel Xeon with AMX (with SSE2 1.4), and about 0.4 on Zen 3. AVX-512
  // tells these apart. No other CPU without it was measured: they use a buffer.
  static const bool has = cpu_has(Isa::avx512);
  return has;
#else
  return false;
#endif
}

}  // namespace posenc::simd
