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

/// The frequencies w_k in double, as a user of a vectorised sine computes them before rounding them
/// to the type of the phases. A rule of frequencies gives them in double. The list is padded with
/// zeros to a multiple of simd::padding.
std::vector<double> radians_of(const EncodingSpec& spec) {
  const std::int64_t count = spec.d_model / 2;
  constexpr std::int64_t multiple = simd::padding;
  std::vector<double> all(static_cast<std::size_t>((count + multiple - 1) / multiple * multiple));
  const auto denominator = static_cast<double>(exponent_denominator(spec));
  const Frequencies exact(spec);
  for (std::int64_t k = 0; k < count; ++k) {
    all[static_cast<std::size_t>(k)] =
        is_base(spec.frequencies) ? std::pow(spec.base, -static_cast<double>(k) / denominator)
                                  : to_radians(exact[k]);
  }
  return all;
}

/// Encodes with a library's sines and cosines of position times frequency.
class SincosPeer final : public Encoder {
 public:
  SincosPeer(const EncodingSpec& spec, const Backend& backend, const LibraryKernel& library)
      : Encoder(spec, backend),
        library_(library),
        is_float_(backend.phases() == "float32"),
        doubles_(radians_of(spec)),
        floats_(doubles_.begin(), doubles_.end()) {}

  /// In float32, the position, the frequency and their product each carry a relative error of
  /// 2^-24. In double, the frequency carries 2^-53 from pow and 2^-53 |ln w| from the exponent, and
  /// the product adds 2^-53; w |ln w| is at most 1 / e. A frequency of a rule is at most pi.
  double error_bound(RowRange rows, DataType) const noexcept override {
    const double ulp = is_float_ ? 0x1p-24 : 0x1p-53, rounding = is_float_ ? 0 : 0x1p-25;
    const double of_phase = 3.01 * ulp * (is_base(spec().frequencies) ? 1 : 3.15);
    constexpr double any_error = 2;  // values are between -1 and 1
    return std::min(any_error, rounding + library_.ulps * ulp +
                                   static_cast<double>(rows.farthest()) * of_phase);
  }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    const void* const radians = is_float_ ? static_cast<const void*>(floats_.data())
                                          : static_cast<const void*>(doubles_.data());
    library_.write({spec().d_model / 2, columns_of(spec()), radians}, task);
  }

  const LibraryKernel& library_;
  bool is_float_;  ///< true if phases are float32
  std::vector<double> doubles_;
  std::vector<float> floats_;  ///< the frequencies of doubles_, rounded
};

/// A library at one ISA. It writes only float32 tables, as users of the library do.
class PeerBackend final : public Backend {
 public:
  PeerBackend(const LibraryKernel& library, Isa isa) : library_(library), isa_(isa) {}

  std::string_view name() const noexcept override { return library_.name; }
  std::string_view description() const noexcept override { return library_.description; }
  std::string_view phases() const noexcept override { return library_.phases; }
  Isa isa() const noexcept override { return isa_; }
  bool can_be_picked() const noexcept override { return false; }
  bool supports(DataType type) const noexcept override { return type == DataType::float32; }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return std::make_unique<SincosPeer>(spec, *this, library_);
  }

  const LibraryKernel& library_;
  Isa isa_;
};

}  // namespace

void register_peers() {
#ifdef __x86_64__
  static const bool is_done = [] {
    for (int library = 0; sse2_libraries[library].name != nullptr; ++library) {
      register_backend(std::make_unique<PeerBackend>(sse2_libraries[library], Isa::sse2));
      register_backend(std::make_unique<PeerBackend>(avx2_libraries[library], Isa::avx2));
      register_backend(std::make_unique<PeerBackend>(avx512_libraries[library], Isa::avx512));
    }
    return true;
  }();
  static_cast<void>(is_done);
#endif
}

std::string_view missing_peers() { return POSENC_MISSING_PEERS; }

}  // namespace posenc::peers
