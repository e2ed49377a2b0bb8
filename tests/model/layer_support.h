// Helpers for the tests of the layers.
#pragma once

#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/model/sequence_view.h"
#include "posenc/model/simd/kernels.h"
#include "posenc/simd/dispatch.h"
#include "support.h"

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
template <class T>
class SequencesOf {
 public:
  SequencesOf(model::BatchOrder order, std::int64_t batch, std::int64_t rows, std::int64_t columns,
              std::int64_t gap = 0)
      : memory_(static_cast<std::size_t>(batch * rows * (columns + gap) + 2 * margin), guard()) {
    T* const data = memory_.data() + margin;
    view_ = order == model::BatchOrder::batch_first
                ? model::batch_first(data, batch, rows, columns + gap)
                : model::sequence_first(data, rows, batch, columns + gap);
    view_.columns = columns;
  }

  SequencesOf(const SequencesOf& other) : memory_(other.memory_), view_(other.view_) {
    view_.data = memory_.data() + margin;
  }
  SequencesOf& operator=(const SequencesOf&) = delete;

  const model::SequenceView<T>& view() const noexcept { return view_; }
  T& at(std::int64_t b, std::int64_t r, std::int64_t c) const noexcept {
    return view_.data[b * view_.batch_stride + r * view_.row_stride + c];
  }

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
    each([&](auto b, auto r, auto c) {
      at(b, r, c) = nearest<T>(static_cast<double>(values[next++]));
    });
  }

  /// True if everything that is not an element still has its initial value.
  bool gaps_untouched() const {
    SequencesOf copy = *this;
    each([&](auto b, auto r, auto c) { copy.at(b, r, c) = guard(); });
    return copy.memory_ == std::vector<T>(memory_.size(), guard());
  }

  const std::vector<T>& memory() const noexcept { return memory_; }

 private:
  static constexpr std::int64_t margin = 37;  // odd, so that rows are aligned to a float only
  static T guard() noexcept { return nearest<T>(-777); }

  std::vector<T> memory_;
  model::SequenceView<T> view_;
};
using Sequences = SequencesOf<float>;

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

}  // namespace posenc::test
