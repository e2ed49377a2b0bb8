// Shared by the vectorised backends: a backend for each ISA of the build, and the frequencies in
// the form that kernels read.
#pragma once

#include "posenc/backend.h"
#include "posenc/exact/frequency.h"
#include "posenc/isa.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/row_task.h"
#include "posenc/spec.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace posenc {

simd::Columns columns_of(const EncodingSpec& spec) noexcept;

/// The task as kernels store it. Non-temporal stores write whole cache lines. Kernels of float64
/// need every run of columns to begin and end at a line. Others stage runs that do not, if these
/// are long enough to gain by it.
RowTask with_allowed_stores(const EncodingSpec& spec, RowTask task) noexcept;

/// The leading 128 bits of the frequencies, padded with zeros.
struct FrequencyTables {
  explicit FrequencyTables(const Frequencies& frequencies);

  std::int64_t padded_count() const noexcept { return static_cast<std::int64_t>(high.size()); }

  std::vector<std::uint64_t> high;
  std::vector<std::uint64_t> low;
};

/// A method at one ISA. MethodEncoder has static members `method` (the backend's name) and
/// `description`, and a constructor that takes a spec and the kernels of the ISA.
template <class MethodEncoder>
class VectorisedBackend final : public Backend {
 public:
  explicit VectorisedBackend(const simd::IsaKernels& compiled) : compiled_(compiled) {}
  std::string_view name() const noexcept override { return MethodEncoder::method; }
  std::string_view description() const noexcept override { return MethodEncoder::description; }
  Isa isa() const noexcept override { return compiled_.isa; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return std::make_unique<MethodEncoder>(spec, compiled_);
  }
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec,
                                              const RepeatedRows& repeated) const override {
    if constexpr (requires { MethodEncoder(spec, compiled_, repeated); }) {
      return std::make_unique<MethodEncoder>(spec, compiled_, repeated);
    } else {
      return make_encoder(spec);
    }
  }

  simd::IsaKernels compiled_;
};

/// The backends of a method at every ISA of this build that has the kernel `needed`, in ascending
/// order.
template <class MethodEncoder, class Kernel>
std::vector<std::unique_ptr<Backend>> backends_of_method(Kernel simd::Kernels::*needed) {
  std::vector<std::unique_ptr<Backend>> all;
  for (const simd::IsaKernels& each : simd::compiled_kernels()) {
    if (each.kernels.*needed == nullptr) continue;
    all.push_back(std::make_unique<VectorisedBackend<MethodEncoder>>(each));
  }
  return all;
}

}  // namespace posenc
