// Eigen's array expressions. For ISA files only.
#pragma once

#include "kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <limits>
#include <sstream>

// Eigen under the ISA's own name: its inline functions have no namesake in another object, so that
// the linker cannot keep this ISA's copy for everybody.
#define Eigen POSENC_PEER_EIGEN_NAMESPACE
#define EIGEN_NO_DEBUG
#include <Eigen/Core>

namespace posenc::peers {
namespace {

/// Sines and cosines of a piece that stays in the first-level cache; Eigen has no sincos, and
/// vectorises no store with a stride.
void eigen_rows(const SincosTables<float>& tables, const RowTask& task) {
  constexpr int piece = 256;
  using Piece = Eigen::Array<float, Eigen::Dynamic, 1, 0, piece, 1>;
  using Pairs = Eigen::Map<Eigen::Array<float, 2, Eigen::Dynamic>>;
  using Row = Eigen::Map<Eigen::ArrayXf>;
  for (std::int64_t r = 0; r < task.count; ++r) {
    float* const row = static_cast<float*>(task.out) + r * task.stride;
    const auto position = static_cast<float>(task.first + r);
    for (std::int64_t k = 0; k < tables.frequencies; k += piece) {
      const std::int64_t count = std::min<std::int64_t>(piece, tables.frequencies - k);
      const Piece phases = Eigen::Map<const Eigen::ArrayXf>(tables.radians + k, count) * position;
      if (tables.columns.interleaved) {
        const Piece sines = phases.sin(), cosines = phases.cos();
        Pairs pairs(row + 2 * k, 2, count);
        pairs.row(0) = sines;
        pairs.row(1) = cosines;
      } else {
        Row(row + tables.columns.sine + k, count) = phases.sin();
        Row(row + tables.columns.cosine + k, count) = phases.cos();
      }
    }
  }
}

}  // namespace
}  // namespace posenc::peers
