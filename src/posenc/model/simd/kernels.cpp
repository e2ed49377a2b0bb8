#include "posenc/model/simd/kernels.h"

#include "posenc/simd/compiled_isas.h"

#include <vector>

namespace posenc::simd {

#define POSENC_DECLARE_KERNELS(isa) const ModelKernels& isa##_model_kernels() noexcept;
POSENC_FOR_EACH_ISA(POSENC_DECLARE_KERNELS)
#undef POSENC_DECLARE_KERNELS

std::span<const IsaTable<ModelKernels>> compiled_model_kernels() {
#define POSENC_ISA_KERNELS(isa) {Isa::isa, isa##_model_kernels()},
  // Never freed, so that it is valid while the process exits.
  static const auto& all =
      *new std::vector<IsaTable<ModelKernels>>{POSENC_FOR_EACH_ISA(POSENC_ISA_KERNELS)};
#undef POSENC_ISA_KERNELS
  return all;
}

const ModelKernels& best_model_kernels() {
  static const ModelKernels& best = best_of(compiled_model_kernels());
  return best;
}

StoreMethod plan_joined_rows(bool non_temporal, std::int64_t row_bytes) noexcept {
  return non_temporal && row_bytes <= most_joined_bytes ? StoreMethod::staged : StoreMethod::plain;
}

}  // namespace posenc::simd
