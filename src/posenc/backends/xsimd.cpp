// xsimd: the vectorised sincos of xsimd in double, of exactly reduced phases: the direct SIMD way. See simd/sincos_kernel.h.
#include "posenc/backends/backends.h"
#include "posenc/backends/frequency_tables.h"

namespace posenc {
namespace {

class XsimdEncoder final : public Encoder {
 public:
  XsimdEncoder(const EncodingSpec& spec, const IsaKernels& compiled)
      : Encoder(spec, "xsimd", compiled.isa), kernel_(compiled.kernels.sincos), frequencies_(Frequencies(spec)) {}

  /// Half a float32 ulp of 1 and the double's own error, at any position.
  double error_bound(RowRange) const noexcept override { return 0x1p-25 + 0x1p-50; }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    kernel_({spec().d_model / 2, columns_of(spec()), frequencies_.high.data(), frequencies_.low.data()}, task.first,
            task.count, task.out, task.stride);
  }

  simd::SincosKernel kernel_;
  FrequencyTables frequencies_;
};

class XsimdBackend final : public Backend {
 public:
  explicit XsimdBackend(const IsaKernels& compiled) : compiled_(compiled) {}
  std::string_view name() const noexcept override { return "xsimd"; }
  std::string_view description() const noexcept override {
    return "xsimd's sincos in double, of exactly reduced phases";
  }
  Isa isa() const noexcept override { return compiled_.isa; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return std::make_unique<XsimdEncoder>(spec, compiled_);
  }

  IsaKernels compiled_;
};

}  // namespace

std::vector<std::unique_ptr<Backend>> make_xsimd_backends() {
  std::vector<std::unique_ptr<Backend>> all;
  for (const IsaKernels& compiled : compiled_kernels()) all.push_back(std::make_unique<XsimdBackend>(compiled));
  return all;
}

}  // namespace posenc
