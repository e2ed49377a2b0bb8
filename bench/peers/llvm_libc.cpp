// llvm_libc: LLVM libc's sincosf, which is correctly rounded: the nearest float to the sine of its
// phase. The phase is a product in float32, as with every other library.
//
// The library defines each function twice, as sincosf and in a namespace of its version. The build
// takes the second alone (see CMakeLists.txt), so that the C library keeps its own sincosf.
#include "peer.h"

namespace POSENC_LLVM_LIBC {
void sincosf(float phase, float* sine, float* cosine);
}

namespace posenc::peers {
namespace {

void write_rows(const SincosTables<float>& tables, const RowTask& task) {
  const std::int64_t step = tables.columns.interleaved ? 2 : 1;
  for (std::int64_t r = 0; r < task.count; ++r) {
    float* const row = task.row<float>(r);
    float* const sines = row + tables.columns.sine;
    float* const cosines = row + tables.columns.cosine;
    const auto position = static_cast<float>(task.first + r);
    for (std::int64_t k = 0; k < tables.frequencies; ++k)
      POSENC_LLVM_LIBC::sincosf(tables.radians[k] * position, sines + k * step, cosines + k * step);
  }
}

/// What Debian's packages need: they are compiled for AVX2.
#if defined(__x86_64__)
constexpr Isa isa = Isa::avx2;
#else
constexpr Isa isa = Isa::scalar;
#endif

}  // namespace

void register_llvm_libc() {
  register_library({"llvm_libc", "LLVM libc's sincosf, correctly rounded, float32 phases", 0.5,
                    write_rows, nullptr},
                   isa);
}

}  // namespace posenc::peers
