// What the kernels take and give: plain data, so that a file compiled for one ISA shares no inline
// function with another.
#pragma once

#include "posenc/simd/error_bounds.h"
#include "posenc/simd/row_task.h"

#include <cstddef>
#include <cstdint>

namespace posenc::simd {

/// Frequencies are padded in every table to a multiple of this, so that kernels read whole vectors.
inline constexpr std::int64_t padding = 64;

/// Where the sines and cosines of consecutive frequencies stand: `interleaved`, or in two blocks of
/// columns.
struct Columns {
  bool interleaved;
  std::int64_t sine;    ///< column of frequency 0's sine
  std::int64_t cosine;  ///< column of frequency 0's cosine
};

/// Recomputes one entry exactly: the bits of the value of that type nearest to the sine or cosine
/// of frequency k at that position.
using ExactEntry = std::uint64_t (*)(const void* context, std::int64_t position, std::int64_t k,
                                     bool cosine, DataType type) noexcept;

/// Per frequency, padded. w is the frequency in radians per position.
struct RotationTables {
  std::int64_t frequencies;
  Columns columns;
  const std::uint64_t* turns_high;  ///< w / (2 pi) as a 128-bit fraction: its high and
  const std::uint64_t* turns_low;   ///< its low half
  const float* radians;             ///< w
  const double* cos_row;            ///< cos and sin of w: one row onwards
  const double* sin_row;
  const double* cos_block;  ///< cos and sin of block_rows w: one block onwards
  const double* sin_block;
  ExactEntry exact_entry;
  const void* context;
};

/// Per frequency, padded.
struct Rotation32Tables {
  std::int64_t frequencies;
  Columns columns;
  const std::uint64_t* turns_high;
  const std::uint64_t* turns_low;
  const float* cos_rows;  ///< cos(n w) and
  const float* sin_rows;  ///< sin(n w): block_rows32 rows n of row_stride
  std::int64_t row_stride;
};

/// Per frequency, padded; positions up to sincos_block_rows from an anchor are reached by addition
/// of exact multiples.
struct SincosTables {
  std::int64_t frequencies;
  Columns columns;
  const std::uint64_t* turns_high;
  const std::uint64_t* turns_low;
};

inline constexpr std::int64_t sincos_block_rows = 64;

/// Fills sin_out and cos_out, padded, with sine and cosine of `position` times the frequencies,
/// each within 2^-52.
using AnchorKernel = void (*)(std::int64_t frequencies, const std::uint64_t* turns_high,
                              const std::uint64_t* turns_low, std::uint64_t position,
                              double* sin_out, double* cos_out) noexcept;

/// What rows are added to: out = x * scale + encoding in float32, each operation rounded. An
/// element of x stands `distance` elements behind its output; 0 if it is the output.
struct Addition {
  std::ptrdiff_t distance;
  float scale;
};

/// Writes the rows of the task, or adds them if `addition` is not null (float32 only). Non-temporal
/// ones stand in memory aligned to 64 bytes, with runs of columns and a stride of whole lines.
using RotationKernel = void (*)(const RotationTables& tables, const RowTask& task,
                                const Addition* addition) noexcept;
/// Of every type but float64.
using Rotation32Kernel = void (*)(const Rotation32Tables& tables, const RowTask& task) noexcept;
/// Of float32 and float64. Null for the ISA scalar, which has no vector library.
using SincosKernel = void (*)(const SincosTables& tables, const RowTask& task) noexcept;

/// Which elements dropout keeps: dropout.h says how an element's random bits come from the
/// generator.
struct DropoutRule {
  std::uint64_t seed;
  std::uint8_t threshold;        ///< an element whose byte is below is dropped, one above is kept
  std::uint32_t fine_threshold;  ///< if the byte is equal, a word of its own decides alike
  float scale;                   ///< of what is kept
};

/// out[i] = dropout(scale * x[i] + encoding[i]), each operation rounded by itself.
struct CombineTask {
  const float* x;
  const float* encoding;  ///< null: none is added
  float* out;             ///< may be x
  std::int64_t count;
  float scale;
  const DropoutRule* dropout;   ///< null: all are kept, as they are
  std::uint64_t first_element;  ///< of dropout: the index of out[0]
  bool non_temporal;            ///< a fence must follow
};

using CombineKernel = void (*)(const CombineTask& task) noexcept;

/// Turns the pairs of channels of one head in place: (a, b) -> (a cos - b sin, b cos + a sin). Pair
/// k is (x[2k], x[2k + 1]) if interleaved, else (x[k], x[pairs + k]).
using RotateKernel = void (*)(const float* cosine, const float* sine, std::int64_t pairs,
                              bool interleaved, float* x) noexcept;

/// After the last non-temporal task: until then its stores are not ordered with others.
using FenceKernel = void (*)() noexcept;

/// The kernels of one ISA.
struct Kernels {
  AnchorKernel anchors;
  RotationKernel rotation;
  Rotation32Kernel rotation32;
  SincosKernel sincos;
  CombineKernel combine;
  RotateKernel rotate;
  FenceKernel fence;
};

const Kernels& scalar_kernels() noexcept;
#ifdef POSENC_HAVE_SSE2
const Kernels& sse2_kernels() noexcept;
#endif
#ifdef POSENC_HAVE_AVX2
const Kernels& avx2_kernels() noexcept;
#endif
#ifdef POSENC_HAVE_AVX512
const Kernels& avx512_kernels() noexcept;
#endif
#ifdef POSENC_HAVE_NEON64
const Kernels& neon64_kernels() noexcept;
#endif

}  // namespace posenc::simd
