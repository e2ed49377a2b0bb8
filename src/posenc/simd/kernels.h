// The kernels' interface: plain data, so that files of different ISAs share no inline function.
#pragma once

#include "posenc/simd/error_bounds.h"
#include "posenc/simd/row_task.h"
#include "posenc/support/cache_line.h"

#include <cstdint>

namespace posenc::simd {

/// In every table, frequencies are padded to a multiple of this number, so that kernels read whole
/// vectors.
inline constexpr std::int64_t padding = 64;

/// The columns of the sines and cosines of consecutive frequencies: interleaved, or in two blocks.
struct Columns {
  bool interleaved;
  std::int64_t sine;    ///< column of the sine of frequency 0
  std::int64_t cosine;  ///< column of the cosine of frequency 0
};

/// The bits of the value of `type` nearest to the sine or cosine of frequency k at `position`.
using ExactEntry = std::uint64_t (*)(const void* context, std::int64_t position, std::int64_t k,
                                     bool cosine, DataType type) noexcept;

/// The index of cos(a) in RotationTables::angles, where a = (j + 1/2) w for frequency k and row j
/// of paired_block_rows / 2 rows. The sine follows `lanes` later, where `lanes` is the number of
/// floats in a vector.
constexpr std::int64_t angle_index(std::int64_t k, std::int64_t j, std::int64_t lanes) {
  return (k / lanes * (paired_block_rows / 2) + j) * 2 * lanes + k % lanes;
}

/// Frequencies w, padded with zeros.
struct FrequencyArrays {
  const std::uint64_t* turns_high;  ///< high half of w / (2 pi) modulo 1, as a 128-bit fraction
  const std::uint64_t* turns_low;   ///< low half
  const double* quarter_turns;      ///< w / (pi / 2) modulo 4, from -2 to 2
  const double* rest;               ///< the part of w that quarter_turns lacks, in radians

  FrequencyArrays from(std::int64_t k) const {
    return {turns_high + k, turns_low + k, quarter_turns + k, rest + k};
  }
};

/// Cosines and sines of an angle of each frequency, padded.
struct AngleArrays {
  const double *cosine, *sine;

  AngleArrays from(std::int64_t k) const { return {cosine + k, sine + k}; }
};

/// The constants of rotation, with one padded entry for each frequency w, in radians per position.
struct RotationTables {
  std::int64_t frequencies;
  Columns columns;
  FrequencyArrays w;
  const float* radians;  ///< w
  AngleArrays row;       ///< angle w, which advances by one row
  AngleArrays block;     ///< angle block_rows w, which advances by one block
  AngleArrays half;      ///< angle w / 2
  const float* angles;   ///< cos(a) and sin(a) for a = (j + 1/2) w, see angle_index()
  ExactEntry exact_entry;
  const void* context;
};

/// The constants of rotation32, with one padded entry for each frequency w, in fractions of a turn.
struct Rotation32Tables {
  std::int64_t frequencies;
  Columns columns;
  const std::uint64_t* group_high;  ///< high half of the phase that a group of blocks advances by
  const std::uint64_t* group_low;   ///< low half
  const std::uint64_t* centre;      ///< phase of the centre of block 0, plus 2^-33 to round it
  const std::uint64_t* step;        ///< phase that a block advances by
  /// cos(a) and sin(a) for a = (j + 1/2) w in paired_block_rows / 2 rows j. In each row, both are
  /// interleaved like the columns, or the sines are angles_stride / 2 after the cosines.
  const float* angles;
  std::int64_t angles_stride;
};

/// The constants of xsimd.
struct SincosTables {
  std::int64_t frequencies;
  Columns columns;
  FrequencyArrays w;
};

/// The number of rows that share an anchor.
inline constexpr std::int64_t sincos_block_rows = 64;

/// The places to which Kernels::angles writes the cosines and sines of row j of vector i, each a
/// vector of floats. The cosines go to columns + i vector_stride + j row_stride, and the sines
/// follow `sine_after` later. If sine_after is 0, both are interleaved.
struct AngleRows {
  float* columns;
  std::int64_t vector_stride, row_stride, sine_after;
};

/// The input to which rows are added: out = x * scale + encoding in float32, each operation
/// rounded. An element of x is `distance` elements after its output. The distance is 0 if x is the
/// output.
struct Addition {
  std::int64_t distance;
  float scale;
};

/// out[i] = scale * x[i] + encoding[i], each operation rounded to float32.
struct CombineTask {
  const void* x;
  const float* encoding;  ///< null if no encoding is added
  void* out;              ///< may be x
  std::int64_t count;
  float scale;
  /// Plain stores or lines. Lines require float32 and an `out` that begins and ends at cache lines.
  /// A fence must follow.
  StoreMethod stores = StoreMethod::plain;
  DataType type = DataType::float32;  ///< type of x and out; not float64
};

/// The kernels of one ISA.
struct Kernels {
  bool has_fused_operations;
  std::int64_t float_lanes;

  /// Fills padded arrays with the sine and cosine of `position` times each frequency, within 2^-52.
  void (*anchors)(std::int64_t frequencies, const FrequencyArrays& w, std::uint64_t position,
                  double* sin_out, double* cos_out) noexcept;
  /// Writes paired_block_rows / 2 rows for these frequencies, which are padded. The first row has
  /// the angle `first`, and each later row is one `step` further. The bits are the same on every
  /// ISA.
  void (*angles)(std::int64_t frequencies, const AngleArrays& first, const AngleArrays& step,
                 const AngleRows& rows) noexcept;
  /// Writes the rows of the task, or adds them if `addition` is not null (float32 only).
  void (*rotation)(const RotationTables& tables, const RowTask& task,
                   const Addition* addition) noexcept;
  /// Writes the rows of the task in any type but float64.
  void (*rotation32)(const Rotation32Tables& tables, const RowTask& task) noexcept;
  /// Writes the rows of the task in float32 or float64. Null for the ISA portable.
  void (*sincos)(const SincosTables& tables, const RowTask& task) noexcept;
  void (*combine)(const CombineTask& task) noexcept;
  /// Must follow the last non-temporal task. Until then, its stores are not ordered with other
  /// stores.
  void (*fence)() noexcept;
};

}  // namespace posenc::simd
