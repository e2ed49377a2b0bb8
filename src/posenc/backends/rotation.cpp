// rotation: angle addition from exactly reduced anchors, correctly rounded.
//
// Error bound: half an ulp, for every type.
//
// Valid range: every position up to max_position. Position 0 is written here, the others by the
// kernels.
//
// Method, derivation of the bound, cost and source: see simd/rotation-inl.h for float32 and 16-bit
// types, and simd/rotation64-inl.h for float64.
#include "posenc/backends/backends.h"
#include "posenc/backends/rotation_constants.h"
#include "posenc/exact/sincos.h"
#include "posenc/simd/row_task.h"

#include <string>
#include <string_view>
#include <vector>

namespace posenc {
namespace {

class RotationEncoder final : public Encoder {
 public:
  static constexpr std::string_view method = "rotation";
  static constexpr std::string_view description =
      "angle addition from exact anchors, correctly rounded";

  RotationEncoder(const EncodingSpec& spec, const simd::IsaKernels& compiled)
      : Encoder(spec, std::string(method), compiled.isa),
        kernel_(compiled.kernels.rotation),
        exact_(spec),
        constants_(exact_, compiled.kernels) {}

  bool supports_add() const noexcept override { return true; }

  /// Half an ulp of a value below 1, because every entry is correctly rounded.
  double error_bound(RowRange, DataType type) const noexcept override {
    return half_ulp_of_one(type);
  }
  bool is_correctly_rounded(DataType) const noexcept override { return true; }

 private:
  static std::uint64_t exact_entry(const void* self, std::int64_t position, std::int64_t k,
                                   bool is_cosine, DataType type) noexcept {
    const Turns phase = static_cast<const RotationEncoder*>(self)->exact_.phase(k, position);
    return round_to_bits(is_cosine ? cosine(phase) : sine(phase), type);
  }

  void encode_rows(const RowTask& task) const noexcept override { write(task, nullptr); }

  void add_rows(const RowTask& task, const float* x, float scale) const noexcept override {
    const simd::Addition addition = {x - static_cast<const float*>(task.out), scale};
    write(task, &addition);
  }

  void write(RowTask task, const simd::Addition* addition) const noexcept {
    task.non_temporal = task.non_temporal && allows_non_temporal(spec(), task);
    if (task.first == 0) {
      write_row_0(task, addition);
      if (task.count == 1) return;
      task = task.after(1);
    }
    simd::RotationTables tables = constants_.tables(spec());
    tables.exact_entry = exact_entry;
    tables.context = this;
    kernel_(tables, task, addition);
  }

  /// Writes position 0. Its sines are 0, and no error bound, however small, makes the rounding of 0
  /// certain: the kernel would recompute every sine.
  void write_row_0(const RowTask& task, const simd::Addition* addition) const noexcept {
    with_type(task.type, [&]<class T>(T) {
      T* const out = task.row<T>(0);
      const auto set = [&](std::int64_t column, float value) {
        if (addition != nullptr) {
          value +=
              static_cast<float>(to_double(out[column + addition->distance])) * addition->scale;
        }
        out[column] = nearest<T>(static_cast<double>(value));
      };
      for (std::int64_t k = 0; k < exact_.count(); ++k) {
        const ChannelPair channel = channels_of(spec(), k);
        set(channel.sine, 0.0f);
        set(channel.cosine, 1.0f);
      }
    });
  }

  simd::RotationKernel kernel_;
  Frequencies exact_;
  RotationConstants constants_;
};

}  // namespace

std::vector<std::unique_ptr<Backend>> make_rotation_backends() {
  return backends_of_method<RotationEncoder>(&simd::Kernels::rotation);
}

}  // namespace posenc
