// The kernels' interface: plain data, so that files of different ISAs share no inline function.
#pragma once

#include "posenc/simd/error_bounds.h"
#include "posenc/simd/row_task.h"
#include "posenc/support/cache_line.h"

#include <cstddef>
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

inline constexpr std::int64_t most_selected_parts = 16;
/// Rows that are longer than this are joined by plain stores.
inline constexpr std::int64_t most_joined_bytes = 8192;

/// Bytes of each row that are copied or selected from a row of a table.
struct JoinPart {
  const char* table;          ///< address of the first byte in row 0 of the table
  std::int64_t table_stride;  ///< bytes from one row of the table to the next
  /// For each row, the row of the table plus `first`: 64-bit or 32-bit integers.
  const void* index;
  bool has_wide_index;
  std::int64_t first;
  std::int64_t to;     ///< place of the first byte in a row
  std::int64_t bytes;  ///< even
  /// Null if the part is copied. Otherwise every part has a mask with the bits of each byte that
  /// are taken from it. All parts are then whole rows, and there are at most most_selected_parts.
  const char* mask;

  const char* row(std::int64_t r) const noexcept {
    const std::int64_t at = has_wide_index ? static_cast<const std::int64_t*>(index)[r]
                                           : static_cast<const std::int32_t*>(index)[r];
    return table + (at - first) * table_stride;
  }
};

/// Writes rows. The parts cover all bytes of a row.
struct JoinTask {
  const JoinPart* parts;
  std::int64_t parts_count;
  std::int64_t rows;
  std::int64_t row_bytes;
  char* out;
  std::int64_t out_stride;     ///< bytes from one row to the next
  StoreMethod stores;          ///< plain or staged
  std::int64_t first_row = 0;  ///< the row whose parts go to the first row of `out`
};

/// Rotates the pairs of channels of heads in place: (a, b) -> (a cos - b sin, b cos + a sin). Pair
/// k of a head is (x[2k], x[2k + 1]) if interleaved, and (x[k], x[pairs + k]) otherwise.
struct RotateTask {
  const float* angles;         ///< cosines of the first head, then its sines
  std::int64_t angles_stride;  ///< floats from the angles of one head to the angles of the next
  std::int64_t pairs;
  void* x;              ///< the first head
  std::int64_t stride;  ///< elements from one head to the next
  std::int64_t count;   ///< heads
  DataType type;        ///< not float64
  bool interleaved;
  /// Distance from a head to the memory that is prefetched. 0 if nothing is prefetched.
  std::uintptr_t ahead_bytes = 0;
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
  void (*join)(const JoinTask& task) noexcept;
  /// Lowers `least` and raises `most` to the extremes of `count` integers of 64 or 32 bits.
  void (*extent)(const void* integers, bool is_wide, std::int64_t count, std::int64_t& least,
                 std::int64_t& most) noexcept;
  void (*rotate)(const RotateTask& task) noexcept;
  /// Converts bfloat16 or float16 to float32, and back to the nearest value. The memory must not
  /// overlap.
  void (*widen)(const std::uint16_t* from, std::int64_t count, bool is_bfloat16,
                float* to) noexcept;
  void (*narrow)(const float* from, std::int64_t count, bool is_bfloat16,
                 std::uint16_t* to) noexcept;
  /// Must follow the last non-temporal task. Until then, its stores are not ordered with other
  /// stores.
  void (*fence)() noexcept;
};

}  // namespace posenc::simd
