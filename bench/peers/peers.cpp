#include "peers.h"

#include "peer.h"

#include <utility>
#include <vector>

namespace posenc::peers {
namespace {

Peers all_peers() {
  Peers all;
  add_ggml_recurrence(all);
  add_drifting_rotation(all);
  add_simd_peers(all);
#ifdef POSENC_PEER_HIGHWAY
  add_highway_peers(all);
#endif
  return all;
}

std::vector<MissingPeers> find_missing() {
  std::vector<MissingPeers> missing;
#ifndef POSENC_PEER_SLEEF
  missing.push_back({"sleef_u10, sleef_u35, sleef_f64",
                     "SLEEF was not found by this build (Debian: libsleef-dev)"});
#endif
#ifndef POSENC_PEER_HIGHWAY
  missing.push_back(
      {"highway_f32, highway_f64", "Highway was not found by this build (Debian: libhwy-dev)"});
#endif
#ifndef POSENC_PEER_EIGEN
  missing.push_back({"eigen", "Eigen was not found by this build (Debian: libeigen3-dev)"});
#endif
#ifndef POSENC_PEER_LIBMVEC
  missing.push_back({"libmvec_f32, libmvec_f64",
                     "libmvec was not found by this build (part of glibc on x86-64)"});
#endif
  if (peer_kernels().empty())
    missing.push_back({"drifting_rotation", "its kernels are written for x86-64"});
  return missing;
}

}  // namespace

void register_peers() {
  static const bool is_done = [] {
    for (auto& each : all_peers()) register_backend(std::move(each));
    return true;
  }();
  (void)is_done;
}

std::span<const MissingPeers> missing_peers() {
  static const std::vector<MissingPeers> missing = find_missing();
  return missing;
}

}  // namespace posenc::peers
