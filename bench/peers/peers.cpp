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
#include <string_view>
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

/// A library's sines and cosines of position times frequency.
class SincosWriter final : public RowWriter {
 public:
  SincosWriter(const EncodingSpec& spec, const LibraryKernel& library)
      : layout_(spec),
        has_rule_(!is_base(spec.frequencies)),
        library_(library),
        is_float_(std::string_view(library.phases) == "float32"),
        doubles_(radians_of(spec)),
        floats_(doubles_.begin(), doubles_.end()) {}

  /// In float32, the position, the frequency and their product each carry a relative error of
  /// 2^-24. In double, the frequency carries 2^-53 from pow and 2^-53 |ln w| from the exponent, and
  /// the product adds 2^-53; w |ln w| is at most 1 / e. A frequency of a rule is at most pi.
  double error_bound(RowRange rows, DataType) const noexcept override {
    const double ulp = is_float_ ? 0x1p-24 : 0x1p-53, rounding = is_float_ ? 0 : 0x1p-25;
    const double of_phase = 3.01 * ulp * (has_rule_ ? 3.15 : 1);
    constexpr double any_error = 2;  // values are between -1 and 1
    return std::min(any_error, rounding + library_.ulps * ulp +
                                   static_cast<double>(rows.farthest()) * of_phase);
  }

  void write(const OutputRows& rows) const noexcept override {
    const void* const radians = is_float_ ? static_cast<const void*>(floats_.data())
                                          : static_cast<const void*>(doubles_.data());
    library_.write({layout_.frequencies(), columns_of(layout_), radians},
                   {rows.first, rows.count, rows.out, rows.stride, rows.type});
  }

 private:
  RowLayout layout_;
  bool has_rule_;
  const LibraryKernel& library_;
  bool is_float_;  ///< true if phases are float32
  std::vector<double> doubles_;
  std::vector<float> floats_;  ///< the frequencies of doubles_, rounded
};

/// Registers a library at one ISA. It writes float32 tables, as the libraries' users do.
void add_peer(const LibraryKernel& library, Isa isa) {
  register_backend({.name = library.name,
                    .description = library.description,
                    .phases = library.phases,
                    .isa = isa,
                    .types = {DataType::float32},
                    .can_be_picked = false,
                    .make_writer = [&library](const EncodingSpec& spec) {
                      return std::make_unique<const SincosWriter>(spec, library);
                    }});
}

}  // namespace

void register_peers() {
#ifdef __x86_64__
  static const bool is_done = [] {
    for (int library = 0; sse2_libraries[library].name != nullptr; ++library) {
      add_peer(sse2_libraries[library], Isa::sse2);
      add_peer(avx2_libraries[library], Isa::avx2);
      add_peer(avx512_libraries[library], Isa::avx512);
    }
    return true;
  }();
  static_cast<void>(is_done);
#endif
}

}  // namespace posenc::peers
