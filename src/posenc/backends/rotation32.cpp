// rotation32: symmetric angle addition in float32 for every entry. This is the fastest tier.
//
// Method  simd/rotation32/rotation32-inl.h; docs/how-it-works.md and proofs/ derive the error
// Error   simd::Rotation32Error, and half an ulp of a 16-bit type
// Range   every position up to max_position; every type but float64
// Cost    five operations for two vectors of floats, or seven
#include "posenc/backends/backends.h"
#include "posenc/backends/constants.h"
#include "posenc/backends/shared_values.h"
#include "posenc/simd/row_task.h"
#include "posenc/simd/store_plan.h"

#include <memory>

namespace posenc::detail {
namespace {

class Rotation32Encoder final : public Encoder {
 public:
  static constexpr Method method = {.name = "rotation32",
                                    .description = "angle addition in float32: the fastest tier",
                                    .phases = "exact",
                                    .supports_float64 = false};

  Rotation32Encoder(const EncodingSpec& spec, const Backend& backend,
                    const simd::IsaKernels& compiled)
      : Encoder(spec, backend),
        kernels_(compiled.kernels),
        constants_(shared_values<Rotation32Constants>().get({spec, &compiled.kernels}, spec,
                                                            compiled.kernels)) {}

  double error_bound(RowRange, DataType type) const noexcept override {
    const double bound =
        simd::Rotation32Error{kernels_.has_fused_operations}.total() * simd::float_roundoff;
    return bound + (size_of(type) == 2 ? half_ulp_of_one(type) : 0);
  }

 private:
  simd::StorePlan store_plan(const RowTask& task, bool non_temporal, bool) const noexcept override {
    return simd::plan_stores(spec(), task, non_temporal, simd::Writer::pairs, kernels_.float_lanes);
  }

  void encode_rows(const RowTask& task) const noexcept override {
    kernels_.rotation32(constants_->tables(spec()), task);
    if (task.first == 0) write_row_0(spec(), task);
  }

  const simd::Kernels& kernels_;
  std::shared_ptr<const Rotation32Constants> constants_;
};

}  // namespace

void add_rotation32(BackendList& all) {
  add_method<Rotation32Encoder>(all, &simd::Kernels::rotation32);
}

}  // namespace posenc::detail
