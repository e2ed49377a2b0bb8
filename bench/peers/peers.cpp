#include "peers.h"

#include "kernels.h"

#include "posenc/backends/backends.h"
#include "posenc/encoder.h"
#include "posenc/exact/frequency.h"
#include "posenc/registry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace posenc::peers {
namespace {

/// w_k as a user of a vectorised sine computes it: in double, then rounded to T. A rule of
/// frequencies gives them in double. Padded with zeros to a multiple of `padding`.
template <class T>
std::vector<T> radians_of(const EncodingSpec& spec) {
  const std::int64_t count = spec.d_model / 2;
  std::vector<T> all(static_cast<std::size_t>((count + padding - 1) / padding * padding));
  const auto denominator = static_cast<double>(exponent_denominator(spec));
  const Frequencies exact(spec);
  for (std::int64_t k = 0; k < count; ++k) {
    const double w = is_base(spec.frequencies)
                         ? std::pow(spec.base, -static_cast<double>(k) / denominator)
                         : to_radians(exact[k]);
    all[static_cast<std::size_t>(k)] = static_cast<T>(w);
  }
  return all;
}

/// A library's sines and cosines of position times frequency, in phases of type T.
template <class T>
class SincosPeer final : public Encoder {
 public:
  SincosPeer(const EncodingSpec& spec, const Backend& backend, SincosKernel<T> kernel, double ulps)
      : Encoder(spec, backend), kernel_(kernel), ulps_(ulps), radians_(radians_of<T>(spec)) {}

  /// In float32 the position, the frequency and their product each carry a relative 2^-24. In
  /// double the frequency carries 2^-53 of pow and 2^-53 |ln w| of the exponent, the product 2^-53
  /// more; w |ln w| is at most 1 / e. A frequency of a rule is at most pi.
  double error_bound(RowRange rows, DataType) const noexcept override {
    constexpr bool is_float = sizeof(T) == sizeof(float);
    const double ulp = is_float ? 0x1p-24 : 0x1p-53, rounding = is_float ? 0 : 0x1p-25;
    const double of_phase = 3.01 * ulp * (is_base(spec().frequencies) ? 1 : 3.15);
    constexpr double any_error = 2;  // of values between -1 and 1
    return std::min(any_error,
                    rounding + ulps_ * ulp + static_cast<double>(rows.farthest()) * of_phase);
  }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    kernel_({spec().d_model / 2, columns_of(spec()), radians_.data()}, task);
  }

  SincosKernel<T> kernel_;
  double ulps_;  ///< largest error of a sine, of a value below 1
  std::vector<T> radians_;
};

/// Writes float32 tables, as the libraries' users do.
class PeerBackend final : public Backend {
 public:
  PeerBackend(const LibraryKernel& library, Isa isa) : library_(library), isa_(isa) {}

  std::string_view name() const noexcept override { return library_.name; }
  std::string_view description() const noexcept override { return library_.description; }
  std::string_view phases() const noexcept override {
    return library_.of_floats != nullptr ? "float32" : "double";
  }
  Isa isa() const noexcept override { return isa_; }
  bool can_be_picked() const noexcept override { return false; }
  bool supports(DataType type) const noexcept override { return type == DataType::float32; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    const auto& [name, description, ulps, of_floats, of_doubles] = library_;
    if (of_floats != nullptr)
      return std::make_unique<SincosPeer<float>>(spec, *this, of_floats, ulps);
    return std::make_unique<SincosPeer<double>>(spec, *this, of_doubles, ulps);
  }

  LibraryKernel library_;
  Isa isa_;
};

}  // namespace

void register_peers() {
#ifdef POSENC_PEER_X86
  static const bool is_done = [] {
    for (int library = 0; kernels_sse2.libraries[library].name != nullptr; ++library) {
      for (const Kernels* each : {&kernels_sse2, &kernels_avx2, &kernels_avx512})
        register_backend(std::make_unique<PeerBackend>(each->libraries[library], each->isa));
    }
    return true;
  }();
  static_cast<void>(is_done);
#endif
}

std::string_view missing_peers() { return POSENC_MISSING_PEERS; }

}  // namespace posenc::peers
