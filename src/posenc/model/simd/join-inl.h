// Joins rows from parts of the rows of tables, as encodings over axes need it, and finds the extent
// of positions.
//
// Method  whole vectors are copied, of which the last two of a part may overlap. Scattered columns
//         are selected by masks. Non-temporal stores go through a buffer in the L1 cache
// Error   none: bytes are copied
// Range   any number of parts, of any size
// Cost    a load and a store per vector, or two of each through the buffer. With masks, two loads
//         per part
#pragma once

#include "posenc/model/simd/kernels.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

constexpr std::int64_t vector_bytes = float_lanes * static_cast<std::int64_t>(sizeof(float));

inline void copy_vector(const char* from, char* to) {
  load(reinterpret_cast<const float*>(from)).store_unaligned(reinterpret_cast<float*>(to));
}

/// Copies fewer bytes than a vector has.
inline void copy_few(const char* from, char* to, std::int64_t bytes) {
  const auto copy = [&]<std::size_t size>() {
    if ((bytes & static_cast<std::int64_t>(size)) == 0) return;
    std::memcpy(to, from, size);
    from += size;
    to += size;
  };
  [&]<std::size_t... sizes>(std::index_sequence<sizes...>) {
    (copy.template operator()<sizes>(), ...);
  }
  (std::index_sequence<32, 16, 8, 4, 2>());
}

inline void copy_bytes(const char* from, char* to, std::int64_t bytes) {
  if (bytes < vector_bytes) return copy_few(from, to, bytes);
  std::int64_t done = 0;
  for (; done + vector_bytes <= bytes; done += vector_bytes) copy_vector(from + done, to + done);
  if (done < bytes) copy_vector(from + bytes - vector_bytes, to + bytes - vector_bytes);
}

/// Selects the elements of a row from rows of `fixed_count` tables, or of `count` tables if that is
/// 0.
template <std::int64_t fixed_count>
inline void select_row(const JoinPart* parts, std::int64_t count, std::int64_t row,
                       std::int64_t bytes, char* to) {
  const std::int64_t parts_count = fixed_count != 0 ? fixed_count : count;
  const char* from[most_selected_parts];
  for (std::int64_t p = 0; p < parts_count; ++p) from[p] = parts[p].row(row);
  const auto selected = [&](std::int64_t at, auto load_of) {
    auto value = load_of(from[0] + at) & load_of(parts[0].mask + at);
    for (std::int64_t p = 1; p < parts_count; ++p)
      value = value | (load_of(from[p] + at) & load_of(parts[p].mask + at));
    return value;
  };
  std::int64_t done = 0;
  for (; done + vector_bytes <= bytes; done += vector_bytes) {
    selected(done, [](const char* at) {
      return I32::load_unaligned(reinterpret_cast<const std::int32_t*>(at));
    }).store_unaligned(reinterpret_cast<std::int32_t*>(to + done));
  }
  for (; done < bytes; ++done)
    to[done] = static_cast<char>(
        selected(done, [](const char* at) { return static_cast<unsigned char>(*at); }));
}

inline void select_some(const JoinTask& task, std::int64_t begin, std::int64_t count, char* to,
                        std::int64_t stride) {
  const auto select = task.parts_count == 2   ? select_row<2>
                      : task.parts_count == 3 ? select_row<3>
                                              : select_row<0>;
  for (std::int64_t row = 0; row < count; ++row)
    select(task.parts, task.parts_count, task.first_row + begin + row, task.row_bytes,
           to + row * stride);
}

/// Copies the parts of `count` rows, starting at row `begin`. Rows of `to` are `stride` bytes
/// apart.
inline void join_some(const JoinTask& task, std::int64_t begin, std::int64_t count, char* to,
                      std::int64_t stride) {
  if (task.parts[0].mask != nullptr) return select_some(task, begin, count, to, stride);
  for (std::int64_t p = 0; p < task.parts_count; ++p) {
    const JoinPart part = task.parts[p];
    for (std::int64_t row = 0; row < count; ++row) {
      copy_bytes(part.row(task.first_row + begin + row), to + row * stride + part.to, part.bytes);
    }
  }
}

void join_kernel(const JoinTask& task) noexcept {
  // As many rows are staged at once as the store queue holds. Rows are then copied to the buffer
  // while others leave it. With 16 KiB, the speed is 0.7 times as high (Zen 5).
  constexpr std::int64_t staged_at_once = 2048, rows_at_once = 16;
  if (task.stores == StoreMethod::plain) {
    for (std::int64_t row = 0; row < task.rows; row += rows_at_once) {
      join_some(task, row, smaller(task.rows - row, rows_at_once), task.out + row * task.out_stride,
                task.out_stride);
    }
    return;
  }
  // A row in the buffer begins at a whole line, so that lines are loaded in the units in which they
  // are stored.
  constexpr auto line = static_cast<std::int64_t>(cache_line_bytes);
  const std::int64_t stride = (task.row_bytes + line - 1) / line * line;
  const std::int64_t staged_rows = stride < staged_at_once ? staged_at_once / stride : 1;
  StagingBuffer<char, most_joined_bytes> buffer;
  for (std::int64_t row = 0; row < task.rows; row += staged_rows) {
    const std::int64_t count = smaller(task.rows - row, staged_rows);
    char* const out = task.out + row * task.out_stride;
    char* const staged = buffer.place_for(out);
    join_some(task, row, count, staged, stride);
    for (std::int64_t r = 0; r < count; ++r)
      StagedRow<char>{staged + r * stride, out + r * task.out_stride}.store(0, task.row_bytes);
  }
  fence();
}

/// A plain loop that the compiler vectorises where the ISA compares 64-bit integers.
void extent_kernel(const void* integers, bool is_wide, std::int64_t count, std::int64_t& least,
                   std::int64_t& most) noexcept {
  if (count == 0) return;
  const auto extend = [&](const auto* values) {
    auto low = values[0], high = values[0];
    for (std::int64_t i = 1; i < count; ++i) {
      low = values[i] < low ? values[i] : low;
      high = values[i] > high ? values[i] : high;
    }
    least = low < least ? low : least;
    most = high > most ? high : most;
  };
  is_wide ? extend(static_cast<const std::int64_t*>(integers))
          : extend(static_cast<const std::int32_t*>(integers));
}

}  // namespace
}  // namespace posenc::simd
