// SLEEF, glibc's libmvec and Eigen: one backend for each of their ISAs. Bounds are those that the
// libraries document, in ulps of a value below 1, which are 2^-24 in float32 and 2^-53 in double.
#include "peer.h"

namespace posenc::peers {

std::vector<const Kernels*> peer_kernels() {
#ifdef POSENC_PEER_X86
  return {&kernels_sse2, &kernels_avx2, &kernels_avx512};
#else
  return {};
#endif
}

void add_simd_peers(Peers& peers) {
  constexpr double float_ulp = 0x1p-24, double_ulp = 0x1p-53;
  const auto add = [&]<class T>(std::string_view name, std::string_view description,
                                SincosKernel<T> Kernels::*kernel, double sine_error) {
    for (const Kernels* each : peer_kernels())
      add_sincos_peer(peers, name, each->isa, description, each->*kernel, sine_error);
  };
  add("sleef_u10", "SLEEF's sincos within 1.0 ulp, float32 phases", &Kernels::sleef_u10,
      1.0 * float_ulp);
  add("sleef_deterministic", "SLEEF's sincos with the same bits on every platform",
      &Kernels::sleef_deterministic, 1.0 * float_ulp);
  add("sleef_u35", "SLEEF's sincos within 3.5 ulp, float32 phases", &Kernels::sleef_u35,
      3.5 * float_ulp);
  add("sleef_f64", "SLEEF's sincos within 3.5 ulp, double phases, rounded once",
      &Kernels::sleef_f64, 3.5 * double_ulp);
  add("libmvec_f32", "glibc's vectorised sinf and cosf, float32 phases", &Kernels::libmvec_f32,
      4 * float_ulp);
  add("libmvec_f64", "glibc's vectorised sin and cos, double phases, rounded once",
      &Kernels::libmvec_f64, 4 * double_ulp);
  add("eigen", "Eigen's array sin and cos, float32 phases", &Kernels::eigen, 2 * float_ulp);
}

}  // namespace posenc::peers
