#include "posenc/model/internal/turn_heads.h"

#include "posenc/cpu.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/cache_line.h"

#include <algorithm>
#include <type_traits>

namespace posenc {
namespace {

/// Turns heads of one tensor. Beyond L2, heads of float32 are prefetched, because the processor
/// does not fetch enough lines ahead by itself: 0.6 to 0.85 of the time at 8192 rows of 32 heads of
/// 128 channels, 0.9 at 128 rows (an Intel Xeon with AMX). In L1, it would be 1.13 times the time.
class Turner {
 public:
  Turner(const HeadsView& x, const HeadsToTurn& work, float* wide) noexcept
      : x_(x),
        pairs_(work.pairs),
        is_interleaved_(work.channels == RotaryLayout::interleaved),
        wide_(wide),
        kernels_(simd::best_kernels()),
        ahead_(heads_ahead(x, work.pairs)) {}

  /// Turns `count` rows from `first` of one sequence.
  void turn_rows(std::int64_t sequence, std::int64_t first, std::int64_t count,
                 const float* angles) const noexcept {
    const std::int64_t begin = sequence * x_.batch_stride + first * x_.row_stride;
    if (x_.type == DataType::float32) {
      float* const x = static_cast<float*>(x_.data) + begin;
      for_each_head(x, count, [=, this](float* head, std::int64_t row) {
        rotate(angles + row * 2 * pairs_, head);
      });
      return;
    }
    auto* const x = static_cast<std::uint16_t*>(x_.data) + begin;
    const bool is_bfloat16 = x_.type == DataType::bfloat16;
    for_each_head(x, count, [=, this](std::uint16_t* head, std::int64_t row) {
      kernels_.widen(head, 2 * pairs_, is_bfloat16, wide_);
      rotate(angles + row * 2 * pairs_, wide_);
      kernels_.narrow(wide_, 2 * pairs_, is_bfloat16, head);
    });
  }

 private:
  /// Heads of 4 KiB. With 8 KiB, the time is the same, and with 2 KiB 1.1 times. None if L2 may
  /// hold the heads and their angles, and none if heads are short: just beyond L2, it would be 1.2
  /// times the time.
  static std::int64_t heads_ahead(const HeadsView& x, std::int64_t pairs) noexcept {
    constexpr std::int64_t least_bytes = 256;
    const std::int64_t head_bytes = 2 * pairs * std::int64_t{sizeof(float)};
    const std::int64_t heads_and_angles = (x.batch * x.heads + 1) * x.rows;
    if (head_bytes < least_bytes || shape_class(heads_and_angles * head_bytes) <= ShapeClass::l2)
      return 0;
    return std::max<std::int64_t>(4096 / head_bytes, 1);
  }

  /// Calls turn(head, row) for each head of some rows from x, in the order in which they are in
  /// memory.
  template <class T, class Turn>
  void for_each_head(T* x, std::int64_t rows, const Turn& turn) const noexcept {
    // Heads of 16 bits wait for their conversion, not for memory.
    constexpr bool may_prefetch = std::is_same_v<T, float>;
    const bool by_rows = x_.row_stride >= x_.head_stride;
    const std::int64_t outer_count = by_rows ? rows : x_.heads;
    const std::int64_t inner_count = by_rows ? x_.heads : rows;
    const std::int64_t outer_stride = std::max(x_.row_stride, x_.head_stride);
    const std::int64_t inner_stride = std::min(x_.row_stride, x_.head_stride);
    std::int64_t next_outer = ahead_ / inner_count, next_inner = ahead_ % inner_count;
    for (std::int64_t outer = 0; outer < outer_count; ++outer) {
      for (std::int64_t inner = 0; inner < inner_count; ++inner) {
        if (may_prefetch && ahead_ > 0 && next_outer < outer_count) {
          prefetch(x + next_outer * outer_stride + next_inner * inner_stride);
          if (++next_inner == inner_count) {
            next_inner = 0;
            ++next_outer;
          }
        }
        turn(x + outer * outer_stride + inner * inner_stride, by_rows ? outer : inner);
      }
    }
  }

  template <class T>
  void prefetch(const T* head) const noexcept {
    constexpr int to_write = 1;
    constexpr std::int64_t line = cache_line_bytes / std::int64_t{sizeof(T)};
    for (std::int64_t i = 0; i < 2 * pairs_; i += line) __builtin_prefetch(head + i, to_write);
  }

  void rotate(const float* angles, float* channels) const noexcept {
    kernels_.rotate(angles, angles + pairs_, pairs_, is_interleaved_, channels);
  }

  const HeadsView& x_;
  const std::int64_t pairs_;
  const bool is_interleaved_;
  float* const wide_;
  const simd::Kernels& kernels_;
  const std::int64_t ahead_;  ///< heads from the one that is turned to the one that is prefetched
};

}  // namespace

void HeadsToTurn::turn(std::int64_t begin, std::int64_t count, const float* angles,
                       float* wide) const noexcept {
  for (const HeadsView& x : tensors) {
    if (x.heads == 0) continue;  // its other sizes may be any
    const Turner turner(x, *this, wide);
    if (!own_angles) {
      for (std::int64_t sequence = 0; sequence < x.batch; ++sequence)
        turner.turn_rows(sequence, begin, count, angles);
      continue;
    }
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t sequence = (begin + done) / x.rows, row = (begin + done) % x.rows;
      const std::int64_t rows = std::min(count - done, x.rows - row);
      turner.turn_rows(sequence, row, rows, angles + done * 2 * pairs);
      done += rows;
    }
  }
}

}  // namespace posenc
