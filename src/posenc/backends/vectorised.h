// What backends share: a backend for each ISA of the build, and the frequencies in the form that
// kernels read.
#pragma once

#include "posenc/backend.h"
#include "posenc/backends/backends.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"
#include "posenc/isa.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/row_task.h"
#include "posenc/spec.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace posenc::detail {

simd::Columns columns_of(const EncodingSpec& spec) noexcept;

/// Writes position 0 to the first row of the task: its sines are 0, and its cosines 1.
void write_row_0(const EncodingSpec& spec, const RowTask& task) noexcept;

/// The doubles of simd::FrequencyArrays.
struct FrequencyDoubles {
  double quarter_turns;
  double rest;
};
/// Those of w / (2 pi) modulo 1, in units of 2^-128.
FrequencyDoubles frequency_doubles(uint128 turns) noexcept;

/// Owns the arrays of simd::FrequencyArrays.
class FrequencyTables {
 public:
  explicit FrequencyTables(const Frequencies& frequencies);

  std::int64_t padded_count() const noexcept { return static_cast<std::int64_t>(high_.size()); }

  /// w / (2 pi) modulo 1, in units of 2^-128.
  uint128 turns(std::size_t k) const noexcept {
    return static_cast<uint128>(high_[k]) << 64 | low_[k];
  }

  /// Valid as long as this object.
  simd::FrequencyArrays arrays() const noexcept {
    return {high_.data(), low_.data(), quarter_turns_.data(), rest_.data()};
  }

 private:
  std::vector<std::uint64_t> high_, low_;
  std::vector<double> quarter_turns_, rest_;
};

/// The facts of a method that hold for every spec and ISA.
struct Method {
  std::string_view name;
  std::string_view description;
  std::string_view phases;
  bool supports_float64 = true;
  bool supports_add = false;
  bool is_correctly_rounded = false;  ///< in every type
};

/// A method at one ISA. MethodEncoder has a static member `method`, and a constructor that takes a
/// spec, the backend and the kernels of the ISA.
template <class MethodEncoder>
class MethodBackend final : public Backend {
 public:
  explicit MethodBackend(const simd::IsaKernels& compiled) : compiled_(compiled) {}
  std::string_view name() const noexcept override { return method.name; }
  std::string_view description() const noexcept override { return method.description; }
  std::string_view phases() const noexcept override { return method.phases; }
  Isa isa() const noexcept override { return compiled_.isa; }
  bool supports(DataType type) const noexcept override {
    return method.supports_float64 || type != DataType::float64;
  }
  bool supports_add() const noexcept override { return method.supports_add; }
  bool is_correctly_rounded(DataType) const noexcept override {
    return method.is_correctly_rounded;
  }

 private:
  static constexpr const Method& method = MethodEncoder::method;

  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return std::make_unique<MethodEncoder>(spec, *this, compiled_);
  }

  simd::IsaKernels compiled_;
};

/// Adds a method at every ISA of this build that has the kernel `needed`, in ascending order.
template <class MethodEncoder, class Kernel>
void add_method(BackendList& all, Kernel simd::Kernels::*needed) {
  for (const simd::IsaKernels& each : simd::compiled_kernels()) {
    if (each.kernels.*needed == nullptr) continue;
    all.push_back(std::make_unique<MethodBackend<MethodEncoder>>(each));
  }
}

/// Adds a method that uses no kernels: in plain C++, for every processor.
template <class MethodEncoder>
void add_scalar_method(BackendList& all) {
  const simd::IsaKernels& scalar = simd::compiled_kernels().front();
  all.push_back(std::make_unique<MethodBackend<MethodEncoder>>(scalar));
}

}  // namespace posenc::detail
