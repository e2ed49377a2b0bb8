#include "posenc/layers/internal/turn_heads.h"

#include "posenc/simd/dispatch.h"

#include <algorithm>

namespace posenc {
namespace {

/// Turns heads of one tensor.
class Turner {
 public:
  Turner(const HeadsView& x, const HeadsToTurn& work, float* wide) noexcept
      : x_(x), work_(work), wide_(wide), kernels_(simd::best_kernels()) {}

  /// Turns `count` rows from `first` of one sequence, in the order in which they are in memory.
  void turn_rows(std::int64_t sequence, std::int64_t first, std::int64_t count,
                 const float* angles) const noexcept {
    if (x_.row_stride >= x_.head_stride) {
      for (std::int64_t row = 0; row < count; ++row)
        for (std::int64_t head = 0; head < x_.heads; ++head)
          turn_head(sequence, head, first + row, angles_of(angles, row));
    } else {
      for (std::int64_t head = 0; head < x_.heads; ++head)
        for (std::int64_t row = 0; row < count; ++row)
          turn_head(sequence, head, first + row, angles_of(angles, row));
    }
  }

 private:
  const float* angles_of(const float* angles, std::int64_t row) const noexcept {
    return angles + row * 2 * work_.pairs;
  }

  /// 16-bit elements are turned in wide_.
  void turn_head(std::int64_t sequence, std::int64_t head, std::int64_t row,
                 const float* angles) const noexcept {
    const std::int64_t at =
        sequence * x_.batch_stride + head * x_.head_stride + row * x_.row_stride;
    if (x_.type == DataType::float32) return rotate(angles, static_cast<float*>(x_.data) + at);
    const bool is_bfloat16 = x_.type == DataType::bfloat16;
    auto* const elements = static_cast<std::uint16_t*>(x_.data) + at;
    kernels_.widen(elements, 2 * work_.pairs, is_bfloat16, wide_);
    rotate(angles, wide_);
    kernels_.narrow(wide_, 2 * work_.pairs, is_bfloat16, elements);
  }

  void rotate(const float* angles, float* channels) const noexcept {
    kernels_.rotate(angles, angles + work_.pairs, work_.pairs,
                    work_.channels == RotaryLayout::interleaved, channels);
  }

  const HeadsView& x_;
  const HeadsToTurn& work_;
  float* const wide_;
  const simd::Kernels& kernels_;
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
