#include "peers.h"

#include "peer.h"

namespace posenc::peers {

void register_peers() {
  static const bool is_done = [] {
    Peers all;
    add_ggml_recurrence(all);
    add_drifting_rotation(all);
    add_simd_peers(all);
#ifdef POSENC_PEER_LLVM_LIBC
    add_llvm_libc(all);
#endif
#ifdef POSENC_PEER_HIGHWAY
    add_highway_peers(all);
#endif
    for (auto& each : all) register_backend(std::move(each));
    return true;
  }();
  (void)is_done;
}

std::string_view missing_peers() { return POSENC_MISSING_PEERS; }

}  // namespace posenc::peers
