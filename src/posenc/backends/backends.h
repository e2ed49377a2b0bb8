// The list of built-in methods: one line for each, from the simplest to the most complex, because
// the simplest wins a tie. rotation, which is correctly rounded, is before rotation32. And what
// their files share: a backend for each ISA of the build, and position 0.
#pragma once

#include "posenc/backend.h"
#include "posenc/isa.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/row_task.h"
#include "posenc/spec.h"
#include "posenc/support/detail.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#define POSENC_METHODS(use) use(naive) use(div_term) use(xsimd) use(rotation) use(rotation32)

namespace posenc::detail {

using BackendList = std::vector<std::unique_ptr<Backend>>;

/// add_<method>(all), which the method's file defines, adds the method's backends to a list: one,
/// or for a vectorised method one for each ISA of the build, in ascending order.
#define POSENC_DECLARE_METHOD(method) void add_##method(BackendList& all);
POSENC_METHODS(POSENC_DECLARE_METHOD)
#undef POSENC_DECLARE_METHOD

inline simd::Columns columns_of(const EncodingSpec& spec) noexcept {
  const ChannelPair first = channels_of(spec, 0);
  return {spec.layout == Layout::interleaved, first.sine, first.cosine};
}

/// Writes position 0 to the first row of the task: its sines are 0, and its cosines 1.
inline void write_row_0(const EncodingSpec& spec, const RowTask& task) noexcept {
  const simd::Columns columns = columns_of(spec);
  const std::int64_t frequencies = spec.d_model / 2;
  with_type(task.type, [&]<class T>(T) {
    T* const row = task.row<T>(0);
    const T zero = nearest<T>(0.0), one = nearest<T>(1.0);
    if (columns.interleaved) {
      for (std::int64_t k = 0; k < frequencies; ++k) {
        row[2 * k] = zero;
        row[2 * k + 1] = one;
      }
    } else {
      std::fill_n(row + columns.sine, frequencies, zero);
      std::fill_n(row + columns.cosine, frequencies, one);
    }
  });
}

/// The facts of a method that hold for every spec and ISA.
struct Method {
  std::string_view name;
  std::string_view description;
  std::string_view phases;
  bool supports_float64 = true;
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
void add_portable_method(BackendList& all) {
  const simd::IsaKernels& portable = simd::compiled_kernels().front();
  all.push_back(std::make_unique<MethodBackend<MethodEncoder>>(portable));
}

}  // namespace posenc::detail
