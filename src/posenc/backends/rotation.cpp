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
#include "posenc/simd/row_task.h"
#include "posenc/simd/store_plan.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace posenc::detail {
namespace {

class RotationEncoder final : public Encoder {
 public:
  static constexpr Method method = {
      .name = "rotation",
      .description = "angle addition from exact anchors, correctly rounded",
      .phases = "exact",
      .is_correctly_rounded = true};

  RotationEncoder(const EncodingSpec& spec, const Backend& backend,
                  const simd::IsaKernels& compiled)
      : Encoder(spec, backend),
        kernels_(compiled.kernels),
        exact_(shared_frequencies(spec)),
        constants_(shared_values<RotationConstants>().get(
            key_of_any_layout(spec, &compiled.kernels), *exact_, compiled.kernels)) {}

  /// Half an ulp of a value below 1, because every entry is correctly rounded.
  double error_bound(RowRange, DataType type) const noexcept override {
    return half_ulp_of_one(type);
  }

 private:
  static std::uint64_t exact_entry(const void* self, std::int64_t position, std::int64_t k,
                                   bool is_cosine, DataType type) noexcept {
    const auto* const encoder = static_cast<const RotationEncoder*>(self);
    return rounded_entry(*encoder->exact_, k, position, is_cosine, type).bits;
  }

  simd::StorePlan store_plan(const RowTask& task, bool non_temporal,
                             bool adds) const noexcept override {
    const simd::Writer writer = adds                             ? simd::Writer::sums
                                : task.type == DataType::float32 ? simd::Writer::tiles
                                : task.type == DataType::float64 ? simd::Writer::doubles
                                                                 : simd::Writer::pairs;
    return simd::plan_stores(spec(), task, non_temporal, writer, kernels_.float_lanes);
  }

  void encode_rows(const RowTask& task) const noexcept override { write(task, nullptr); }

  bool can_add_rows() const noexcept override { return true; }

  void add_rows(const RowTask& task, const float* x, float scale) const noexcept override {
    // Not a difference of pointers, which is defined within one array only.
    const auto bytes = static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(x) -
                                                  reinterpret_cast<std::uintptr_t>(task.out));
    const simd::Addition addition = {bytes / std::int64_t{sizeof(float)}, scale};
    write(task, &addition);
  }

  void write(RowTask task, const simd::Addition* addition) const noexcept {
    if (task.first == 0) {
      // No error bound makes the rounding of 0 certain: the kernel would recompute every sine.
      addition == nullptr ? write_row_0(spec(), task) : add_row_0(task, *addition);
      if (task.count == 1) return;
      task = task.after(1);
    }
    simd::RotationTables tables = constants_->tables(spec(), task.type);
    tables.exact_entry = exact_entry;
    tables.context = this;
    kernels_.rotation(tables, task, addition);
  }

  /// Adds position 0 to the input.
  void add_row_0(const RowTask& task, const simd::Addition& addition) const noexcept {
    float* const out = task.row<float>(0);
    const auto add = [&](std::int64_t column, float value) {
      out[column] = value + out[column + addition.distance] * addition.scale;
    };
    for (std::int64_t k = 0; k < exact_->count(); ++k) {
      const ChannelPair channel = channels_of(spec(), k);
      add(channel.sine, 0.0f);
      add(channel.cosine, 1.0f);
    }
  }

  const simd::Kernels& kernels_;
  std::shared_ptr<const Frequencies> exact_;
  std::shared_ptr<const RotationConstants> constants_;
};

}  // namespace

void add_rotation(BackendList& all) { add_method<RotationEncoder>(all, &simd::Kernels::rotation); }

}  // namespace posenc::detail
