// rotation32: symmetric angle addition in float32 for every entry. This is the fastest tier.
//
// Method  simd/rotation32/rotation32-inl.h; docs/how-it-works.md and proofs/ derive the error
// Error   simd::Rotation32Error, and half an ulp of a 16-bit type
// Range   every position up to max_position; every type but float64
// Cost    five operations for two vectors of floats, or seven
#include "posenc/backends/backends.h"
#include "posenc/backends/constants.h"
#include "posenc/backends/shared_values.h"
#include "posenc/simd/kernel_writer.h"
#include "posenc/simd/store_plan.h"

#include <memory>

namespace posenc::detail {
namespace {

class Rotation32Writer final : public KernelWriter {
 public:
  Rotation32Writer(const EncodingSpec& spec, const std::shared_ptr<const Frequencies>& frequencies,
                   const simd::Kernels& kernels)
      : layout_(spec),
        kernels_(kernels),
        constants_(shared_constants<Rotation32Constants>(
            {frequencies, &kernels, spec.layout == Layout::interleaved})) {}

  double error_bound(RowRange, DataType type) const noexcept override {
    const double bound =
        simd::Rotation32Error{kernels_.has_fused_operations}.total() * simd::float_roundoff;
    return bound + (size_of(type) == 2 ? half_ulp_of_one(type) : 0);
  }

  simd::StorePlan store_plan(const simd::RowTask& rows, bool non_temporal,
                             bool) const noexcept override {
    return simd::plan_stores(layout_, rows, non_temporal, simd::Writer::pairs,
                             kernels_.float_lanes);
  }

  void write(const simd::RowTask& rows, const simd::Addition*) const noexcept override {
    kernels_.rotation32(constants_->tables(layout_), rows);
    if (rows.first == 0) write_row_0(layout_, rows);
  }

 private:
  RowLayout layout_;
  const simd::Kernels& kernels_;
  std::shared_ptr<const Rotation32Constants> constants_;
};

}  // namespace

void add_rotation32(BackendList& all) {
  add_method<Rotation32Writer>(
      all,
      {.name = "rotation32",
       .description = "angle addition in float32: the fastest tier",
       .phases = "exact",
       .types = {DataType::float32, DataType::float16, DataType::bfloat16}},
      &simd::Kernels::rotation32);
}

}  // namespace posenc::detail
