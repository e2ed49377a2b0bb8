#include "posenc/layers/internal/turn_heads.h"

#include "posenc/simd/dispatch.h"

#include <algorithm>

namespace posenc {
namespace {

/// Turns heads of one tensor.
class Turner {
 public:
  Turner(const HeadsView& x, const HeadsToTurn& work, float* wide) noexcept
      : x_(x),
        pairs_(work.pairs),
        is_interleaved_(work.channels == RotaryLayout::interleaved),
        wide_(wide),
        kernels_(simd::best_kernels()) {}

  /// Turns `count` rows from `first` of one sequence.
  void turn_rows(std::int64_t sequence, std::int64_t first, std::int64_t count,
                 const float* angles) const noexcept {
    const std::int64_t begin = sequence * x_.batch_stride + first * x_.row_stride;
    if (x_.type == DataType::float32) {
      float* const x = static_cast<float*>(x_.data) + begin;
      for_each_head(count, [=, this](std::int64_t at, std::int64_t row) {
        rotate(angles + row * 2 * pairs_, x + at);
      });
      return;
    }
    auto* const x = static_cast<std::uint16_t*>(x_.data) + begin;
    const bool is_bfloat16 = x_.type == DataType::bfloat16;
    for_each_head(count, [=, this](std::int64_t at, std::int64_t row) {
      kernels_.widen(x + at, 2 * pairs_, is_bfloat16, wide_);
      rotate(angles + row * 2 * pairs_, wide_);
      kernels_.narrow(wide_, 2 * pairs_, is_bfloat16, x + at);
    });
  }

 private:
  /// Calls turn(offset, row) for each head of some rows, in the order in which they are in memory.
  template <class Turn>
  void for_each_head(std::int64_t rows, const Turn& turn) const noexcept {
    if (x_.row_stride >= x_.head_stride) {
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t head = 0; head < x_.heads; ++head)
          turn(row * x_.row_stride + head * x_.head_stride, row);
    } else {
      for (std::int64_t head = 0; head < x_.heads; ++head)
        for (std::int64_t row = 0; row < rows; ++row)
          turn(row * x_.row_stride + head * x_.head_stride, row);
    }
  }

  void rotate(const float* angles, float* channels) const noexcept {
    kernels_.rotate(angles, angles + pairs_, pairs_, is_interleaved_, channels);
  }

  const HeadsView& x_;
  const std::int64_t pairs_;
  const bool is_interleaved_;
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
