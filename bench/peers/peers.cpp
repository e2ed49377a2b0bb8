#include "peers.h"

#include "peer.h"

#include "posenc/registry.h"

#include <utility>

namespace posenc::peers {
namespace {

class PeerBackend final : public Backend {
 public:
  explicit PeerBackend(Peer peer) : peer_(std::move(peer)) {}

  std::string_view name() const noexcept override { return peer_.name; }
  std::string_view description() const noexcept override { return peer_.description; }
  std::string_view phases() const noexcept override { return peer_.phases; }
  Isa isa() const noexcept override { return peer_.isa; }
  bool can_be_picked() const noexcept override { return false; }
  bool supports(DataType type) const noexcept override {
    return type == DataType::float32 || (type == DataType::float64 && peer_.writes_float64);
  }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return peer_.make(spec, *this);
  }

  Peer peer_;
};

void register_all() {
  register_ggml_recurrence();
#ifdef POSENC_PEER_X86
  const auto isas = {&kernels_sse2, &kernels_avx2, &kernels_avx512};
  for (int library = 0; kernels_sse2.libraries[library].name != nullptr; ++library) {
    for (const Kernels* each : isas) register_library(each->libraries[library], each->isa);
  }
#endif
#ifdef POSENC_PEER_LLVM_LIBC
  register_llvm_libc();
#endif
#ifdef POSENC_PEER_HIGHWAY
  register_highway();
#endif
}

}  // namespace

void register_peer(Peer peer) { register_backend(std::make_unique<PeerBackend>(std::move(peer))); }

void register_library(const LibraryKernel& library, Isa isa, bool writes_float64) {
  const auto& [name, description, ulps, of_floats, of_doubles] = library;
  if (of_floats != nullptr) {
    register_peer({name, isa, "float32", description, maker<SincosPeer<float>>(of_floats, ulps)});
  } else {
    register_peer({name, isa, "double", description, maker<SincosPeer<double>>(of_doubles, ulps),
                   writes_float64});
  }
}

void register_peers() {
  static const bool is_done = (register_all(), true);
  (void)is_done;
}

std::string_view missing_peers() { return POSENC_MISSING_PEERS; }

}  // namespace posenc::peers
