// SLEEF, glibc's libmvec and Eigen: one backend for each of their ISAs. Bounds are those that the
// libraries document, in ulps of a value below 1, which are 2^-24 in float32 and 2^-53 in double.
#include "peer.h"

namespace posenc::peers {

Columns columns_of(const EncodingSpec& spec) noexcept {
  const ChannelPair first = channels_of(spec, 0);
  return {spec.layout == Layout::interleaved, first.sine, first.cosine};
}

std::vector<const Kernels*> compiled_kernels() {
#ifdef POSENC_PEER_X86
  return {&kernels_sse2, &kernels_avx2, &kernels_avx512};
#else
  return {};
#endif
}

void add_simd_peers(Peers& peers) {
  constexpr double float_ulp = 0x1p-24, double_ulp = 0x1p-53;
  const std::vector<const Kernels*> all = compiled_kernels();
  for (const Kernels* each : all) {
    add_sincos_peer(peers, "sleef_u10", each->isa, "SLEEF's sincos within 1.0 ulp, float32 phases",
                    each->sleef_u10, 1.0 * float_ulp);
  }
  for (const Kernels* each : all) {
    add_sincos_peer(peers, "sleef_u35", each->isa, "SLEEF's sincos within 3.5 ulp, float32 phases",
                    each->sleef_u35, 3.5 * float_ulp);
  }
  for (const Kernels* each : all) {
    add_sincos_peer(peers, "sleef_f64", each->isa,
                    "SLEEF's sincos within 3.5 ulp, double phases, rounded once", each->sleef_f64,
                    3.5 * double_ulp);
  }
  for (const Kernels* each : all) {
    add_sincos_peer(peers, "libmvec_f32", each->isa,
                    "glibc's vectorised sinf and cosf, float32 phases", each->libmvec_f32,
                    4 * float_ulp);
  }
  for (const Kernels* each : all) {
    add_sincos_peer(peers, "libmvec_f64", each->isa,
                    "glibc's vectorised sin and cos, double phases, rounded once",
                    each->libmvec_f64, 4 * double_ulp);
  }
  for (const Kernels* each : all) {
    add_sincos_peer(peers, "eigen", each->isa, "Eigen's array sin and cos, float32 phases",
                    each->eigen, 2 * float_ulp);
  }
}

}  // namespace posenc::peers
