// rotation: angle addition from exactly reduced anchors, correctly rounded.
//
// Method  simd/rotation/rotation-inl.h; position 0 is written here
// Error   half an ulp, for every type (docs/how-it-works.md, proofs/)
// Range   every position up to max_position
// Cost    AVX2: 56 operations for 32 floats (simd/rotation/rounding-inl.h)
#include "posenc/backends/backends.h"
#include "posenc/backends/constants.h"
#include "posenc/backends/shared_values.h"
#include "posenc/exact/entry.h"
#include "posenc/simd/kernel_writer.h"
#include "posenc/simd/store_plan.h"

#include <cstdint>
#include <memory>
#include <utility>

namespace posenc::detail {
namespace {

class RotationWriter final : public KernelWriter {
 public:
  RotationWriter(const EncodingSpec& spec, std::shared_ptr<const Frequencies> frequencies,
                 const simd::Kernels& kernels)
      : layout_(spec),
        kernels_(kernels),
        exact_(std::move(frequencies)),
        constants_(shared_constants<RotationConstants>({exact_, &kernels})) {}

  /// Half an ulp of a value below 1, because every entry is correctly rounded.
  double error_bound(RowRange, DataType type) const noexcept override {
    return half_ulp_of_one(type);
  }

  simd::StorePlan store_plan(const simd::RowTask& rows, bool non_temporal,
                             bool adds) const noexcept override {
    const simd::Writer writer = adds                             ? simd::Writer::sums
                                : rows.type == DataType::float32 ? simd::Writer::tiles
                                : rows.type == DataType::float64 ? simd::Writer::doubles
                                                                 : simd::Writer::pairs;
    return simd::plan_stores(layout_, rows, non_temporal, writer, kernels_.float_lanes);
  }

  bool can_add() const noexcept override { return true; }

  void write(const simd::RowTask& rows, const simd::Addition* addition) const noexcept override {
    simd::RowTask task = rows;
    if (task.first == 0) {
      // The kernel cannot certify the rounding of 0 and would recompute every sine, so row 0 is
      // written here.
      addition == nullptr ? write_row_0(layout_, task) : add_row_0(task, *addition);
      if (task.count == 1) return;
      task = task.after(1);
    }
    simd::RotationTables tables = constants_->tables(layout_, task.type);
    tables.exact_entry = exact_entry;
    tables.context = this;
    kernels_.rotation(tables, task, addition);
  }

 private:
  static std::uint64_t exact_entry(const void* self, std::int64_t position, std::int64_t k,
                                   bool is_cosine, DataType type) noexcept {
    const auto* const writer = static_cast<const RotationWriter*>(self);
    return rounded_entry(*writer->exact_, k, position, is_cosine, type).bits;
  }

  /// Adds position 0 to the input.
  void add_row_0(const simd::RowTask& task, const simd::Addition& addition) const noexcept {
    float* const out = task.row<float>(0);
    const auto add = [&](std::int64_t column, float value) {
      out[column] = value + out[column + addition.distance] * addition.scale;
    };
    for (std::int64_t k = 0; k < exact_->count(); ++k) {
      const ChannelPair channel = channels_of(layout_, k);
      add(channel.sine, 0.0f);
      add(channel.cosine, 1.0f);
    }
  }

  RowLayout layout_;
  const simd::Kernels& kernels_;
  std::shared_ptr<const Frequencies> exact_;
  std::shared_ptr<const RotationConstants> constants_;
};

}  // namespace

void add_rotation(BackendList& all) {
  add_method<RotationWriter>(all,
                             {.name = "rotation",
                              .description = "angle addition from exact anchors, correctly rounded",
                              .phases = "exact",
                              .is_correctly_rounded = true},
                             &simd::Kernels::rotation);
}

}  // namespace posenc::detail
