// xsimd: the vectorised sincos of xsimd in double, of exactly reduced phases.
//
// Method  simd/sincos-inl.h, which also derives the error
// Error   2^-50, and half an ulp of types narrower than float64
// Range   every position up to max_position
// Cost    one sincos of xsimd for two vectors of doubles
#include "posenc/backends/backends.h"
#include "posenc/backends/constants.h"
#include "posenc/backends/shared_values.h"
#include "posenc/simd/row_task.h"

#include <algorithm>

namespace posenc::detail {
namespace {

class XsimdWriter final : public RowWriter {
 public:
  XsimdWriter(const EncodingSpec& spec, const std::shared_ptr<const Frequencies>& frequencies,
              const simd::Kernels& kernels)
      : layout_(spec), kernel_(kernels.sincos), frequencies_(*frequencies) {}

  /// Half an ulp of 1, and the error of the double, at any position.
  double error_bound(RowRange, DataType type) const noexcept override {
    return (type == DataType::float64 ? 0 : half_ulp_of_one(type)) + 0x1p-50;
  }

  void write(const OutputRows& rows) const noexcept override {
    const simd::RowTask task = {rows.first, rows.count, rows.out, rows.stride, rows.type};
    const simd::SincosTables tables = {layout_.frequencies(), columns_of(layout_),
                                       frequencies_.arrays()};
    if (size_of(task.type) != 2) return kernel_(tables, task);
    task.type == DataType::float16 ? write_narrowed<Float16>(tables, task)
                                   : write_narrowed<BFloat16>(tables, task);
  }

 private:
  /// Rounds doubles to 16-bit types, a few columns at a time: once, not to float32 first.
  template <class T>
  void write_narrowed(const simd::SincosTables& tables, const simd::RowTask& task) const noexcept {
    constexpr std::int64_t piece = 128;  // frequencies
    double sines_and_cosines[2 * piece];
    for (std::int64_t begin = 0; begin < tables.frequencies; begin += piece) {
      simd::SincosTables part = tables;
      part.frequencies = std::min(piece, tables.frequencies - begin);
      part.w = tables.w.from(begin);
      part.columns = {.interleaved = false, .sine = 0, .cosine = piece};
      for (std::int64_t row = 0; row < task.count; ++row) {
        kernel_(part, {task.first + row, 1, sines_and_cosines, 2 * piece, DataType::float64});
        T* const out = task.row<T>(row);
        for (std::int64_t k = 0; k < part.frequencies; ++k) {
          const ChannelPair channel = channels_of(layout_, begin + k);
          out[channel.sine] = nearest<T>(sines_and_cosines[k]);
          out[channel.cosine] = nearest<T>(sines_and_cosines[piece + k]);
        }
      }
    }
  }

  RowLayout layout_;
  decltype(simd::Kernels::sincos) kernel_;
  FrequencyTables frequencies_;
};

}  // namespace

void add_xsimd(BackendList& all) {
  add_method<XsimdWriter>(all,
                          {.name = "xsimd",
                           .description = "xsimd's sincos in double, of exactly reduced phases",
                           .phases = "exact"},
                          &simd::Kernels::sincos);
}

}  // namespace posenc::detail
