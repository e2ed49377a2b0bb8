// mkl: oneMKL's vector sincos in its mode of high accuracy, float32 phases. It works on arrays, so
// that the sines and cosines of a piece of a row stay in the first-level cache.
#include "peer.h"

#include <mkl_vml.h>

#include <array>

namespace posenc::peers {
namespace {

void write_rows(const SincosTables<float>& tables, const RowTask& task) {
  constexpr std::int64_t piece = 512;
  std::array<float, piece> phases, sines, cosines;
  const std::int64_t step = tables.columns.interleaved ? 2 : 1;
  for (std::int64_t r = 0; r < task.count; ++r) {
    float* const row = static_cast<float*>(task.out) + r * task.stride;
    const auto position = static_cast<float>(task.first + r);
    for (std::int64_t k = 0; k < tables.frequencies; k += piece) {
      const std::int64_t count = std::min(piece, tables.frequencies - k);
      const float* const radians = tables.radians + k;
      for (std::int64_t i = 0; i < count; ++i)
        phases[static_cast<std::size_t>(i)] = radians[i] * position;
      vmsSinCos(static_cast<MKL_INT>(count), phases.data(), sines.data(), cosines.data(), VML_HA);
      for (std::int64_t i = 0; i < count; ++i) {
        row[tables.columns.sine + (k + i) * step] = sines[static_cast<std::size_t>(i)];
        row[tables.columns.cosine + (k + i) * step] = cosines[static_cast<std::size_t>(i)];
      }
    }
  }
}

}  // namespace

/// It dispatches by itself. Intel measured 0.59 ulp, and promises less than 1.
void add_mkl(Peers& peers) {
  add_sincos_peer<float>(peers, "mkl", Isa::scalar,
                         "oneMKL's sincos of arrays, high accuracy, float32 phases", write_rows,
                         0x1p-24);
}

}  // namespace posenc::peers
