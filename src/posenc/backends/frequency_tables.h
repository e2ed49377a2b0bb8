// What the vectorised backends share: the ISAs that were compiled, and frequencies in the shape
// that kernels read.
#pragma once

#include "posenc/backends/row_task.h"
#include "posenc/exact/frequency.h"
#include "posenc/isa.h"
#include "posenc/simd/kernels.h"
#include "posenc/spec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace posenc {

struct IsaKernels {
  Isa isa;
  const simd::Kernels& kernels;
};

/// The ISAs of this build, ascending.
std::span<const IsaKernels> compiled_kernels();

simd::Columns columns_of(const EncodingSpec& spec) noexcept;

/// StorePolicy past the caches write whole cache lines: every run of columns must begin and end
/// with one.
bool allows_non_temporal(const EncodingSpec& spec, const RowTask& task) noexcept;

/// The frequencies' leading 128 bits, padded with zeros.
struct FrequencyTables {
  explicit FrequencyTables(const Frequencies& frequencies);

  std::int64_t padded_count() const noexcept { return static_cast<std::int64_t>(high.size()); }

  std::vector<std::uint64_t> high;
  std::vector<std::uint64_t> low;
};

}  // namespace posenc
