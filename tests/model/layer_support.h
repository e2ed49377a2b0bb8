// Helpers for the tests of the layers.
#pragma once

#include "posenc/cpu.h"
#include "posenc/model/sequence_view.h"
#include "posenc/model/simd/kernels.h"
#include "posenc/simd/dispatch.h"
#include "support.h"

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace posenc::test {

/// Floats in [-2, 2), the same in every run.
inline std::vector<float> random_floats(std::int64_t count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(generator);
  return values;
}

/// An unaligned tensor in the given order, with guard values around it and in the gaps between
/// rows.
class Sequences {
 public:
  Sequences(model::BatchOrder order, std::int64_t batch, std::int64_t rows, std::int64_t columns,
            std::int64_t gap = 0)
      : memory_(static_cast<std::size_t>(batch * rows * (columns + gap) + 2 * margin), guard()) {
    const std::int64_t stride = columns + gap;
    float* const data = memory_.data() + margin;
    view_ = order == model::BatchOrder::batch_first
                ? model::batch_first(data, batch, rows, columns)
                : model::sequence_first(data, rows, batch, columns);
    view_.batch_stride = order == model::BatchOrder::batch_first ? rows * stride : stride;
    view_.row_stride = order == model::BatchOrder::batch_first ? stride : batch * stride;
  }

  Sequences(const Sequences& other) : memory_(other.memory_), view_(other.view_) {
    view_.data = memory_.data() + margin;
  }
  Sequences& operator=(const Sequences&) = delete;

  const model::SequenceView<float>& view() const noexcept { return view_; }
  float* row(std::int64_t b, std::int64_t r) const noexcept {
    return view_.data + b * view_.batch_stride + r * view_.row_stride;
  }
  float& at(std::int64_t b, std::int64_t r, std::int64_t c) const noexcept { return row(b, r)[c]; }

  /// The index of an element in a dense tensor of the same order.
  std::uint64_t index(std::int64_t b, std::int64_t r, std::int64_t c) const noexcept {
    const std::int64_t row =
        view_.order == model::BatchOrder::batch_first ? b * view_.rows + r : r * view_.batch + b;
    return static_cast<std::uint64_t>(row * view_.columns + c);
  }

  /// Calls work(b, r, c) for every element.
  template <class Work>
  void each(const Work& work) const {
    for (std::int64_t b = 0; b < view_.batch; ++b) {
      for (std::int64_t r = 0; r < view_.rows; ++r) {
        for (std::int64_t c = 0; c < view_.columns; ++c) work(b, r, c);
      }
    }
  }

  void fill(unsigned seed = 1) {
    const auto values = random_floats(view_.batch * view_.rows * view_.columns, seed);
    std::size_t next = 0;
    each([&](auto b, auto r, auto c) { at(b, r, c) = values[next++]; });
  }

  /// True if everything that is not an element still has its initial value.
  bool gaps_untouched() const {
    std::vector<float> copy = memory_;
    each([&](auto b, auto r, auto c) {
      copy[static_cast<std::size_t>(&at(b, r, c) - memory_.data())] = guard();
    });
    return same_bits(copy, std::vector<float>(copy.size(), guard()));
  }

  const std::vector<float>& memory() const noexcept { return memory_; }

 private:
  static constexpr std::int64_t margin = 37;  // odd, so that rows are aligned to a float only
  static float guard() noexcept { return std::bit_cast<float>(0x7fc0beefu); }

  std::vector<float> memory_;
  model::SequenceView<float> view_;
};

/// Calls use(kernels of the model, kernels) for each ISA that runs here.
template <class Use>
void for_each_isa(const Use& use) {
  const auto all = simd::compiled_kernels();
  const auto of_model = simd::compiled_model_kernels();
  ASSERT_EQ(all.size(), of_model.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].isa, of_model[i].isa);
    if (!cpu_has(all[i].isa)) continue;
    SCOPED_TRACE(std::string(to_string(all[i].isa)));
    use(of_model[i].kernels, all[i].kernels);
  }
}

inline std::string name_of(model::BatchOrder order) {
  return order == model::BatchOrder::batch_first ? "batch_first" : "sequence_first";
}

}  // namespace posenc::test
