#include "posenc/model/internal/extent.h"

#include "posenc/model/simd/kernels.h"

namespace posenc::detail {

Extent extent_of(const model::IntegerView& integers) {
  Extent all;
  simd::best_model_kernels().extent(integers.data(), integers.is_wide(), integers.count(),
                                    all.least, all.most);
  return all;
}

}  // namespace posenc::detail
