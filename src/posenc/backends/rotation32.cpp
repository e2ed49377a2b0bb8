// rotation32: one angle addition in float32 for every entry. This is the fastest tier.
//
// Error bound: simd::rotation32_error, and half an ulp of a 16-bit type.
//
// Valid range: every position up to max_position; every type but float64.
//
// Method, derivation of the bound, cost and source: see simd/rotation32-inl.h.
#include "posenc/backends/backends.h"
#include "posenc/backends/vectorised.h"
#include "posenc/simd/row_task.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {
namespace {

class Rotation32Encoder final : public Encoder {
 public:
  static constexpr std::string_view method = "rotation32";
  static constexpr std::string_view description = "one angle addition in float32: the fastest tier";

  Rotation32Encoder(const EncodingSpec& spec, const simd::IsaKernels& compiled)
      : Encoder(spec, std::string(method), compiled.isa),
        kernel_(compiled.kernels.rotation32),
        frequencies_(Frequencies(spec)),
        cos_rows_(simd::block_rows32 * padded()),
        sin_rows_(simd::block_rows32 * padded()) {
    // Rows are rotated in double, which costs less than a sine. After 15 rotations, the error is
    // still far below the rounding to float.
    std::vector<double> cos_one(padded()), sin_one(padded()), cosine(padded(), 1.0),
        sine(padded(), 0.0);
    compiled.kernels.anchors(frequencies_.padded_count(), frequencies_.high.data(),
                             frequencies_.low.data(), 1, sin_one.data(), cos_one.data());
    for (std::size_t n = 0; n < simd::block_rows32; ++n) {
      for (std::size_t k = 0; k < padded(); ++k) {
        const double s = sine[k], c = cosine[k];
        sin_rows_[n * padded() + k] = static_cast<float>(s);
        cos_rows_[n * padded() + k] = static_cast<float>(c);
        sine[k] = s * cos_one[k] + c * sin_one[k];
        cosine[k] = c * cos_one[k] - s * sin_one[k];
      }
    }
  }

  double error_bound(RowRange, DataType type) const noexcept override {
    return simd::rotation32_error + (size_of(type) == 2 ? half_ulp_of_one(type) : 0);
  }
  bool supports(DataType type) const noexcept override { return type != DataType::float64; }

 private:
  std::size_t padded() const noexcept { return frequencies_.high.size(); }

  void encode_rows(const RowTask& task) const noexcept override {
    const simd::Rotation32Tables tables = {
        .frequencies = spec().d_model / 2,
        .columns = columns_of(spec()),
        .turns_high = frequencies_.high.data(),
        .turns_low = frequencies_.low.data(),
        .cos_rows = cos_rows_.data(),
        .sin_rows = sin_rows_.data(),
        .row_stride = frequencies_.padded_count(),
    };
    RowTask written = task;
    written.non_temporal = task.non_temporal && allows_non_temporal(spec(), task);
    kernel_(tables, written);
  }

  simd::Rotation32Kernel kernel_;
  FrequencyTables frequencies_;
  std::vector<float> cos_rows_, sin_rows_;
};

}  // namespace

std::vector<std::unique_ptr<Backend>> make_rotation32_backends() {
  return backends_of_method<Rotation32Encoder>(&simd::Kernels::rotation32);
}

}  // namespace posenc
