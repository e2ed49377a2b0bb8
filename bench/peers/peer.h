// What all peers have in common.
#pragma once

#include "kernels.h"

#include "posenc/backends/backends.h"
#include "posenc/encoder.h"
#include "posenc/exact/frequency.h"
#include "posenc/simd/row_task.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace posenc::peers {

/// The largest error that values between -1 and 1 can have.
inline constexpr double any_error = 2;

/// Writes float32 tables, as the libraries' users do, and float64 if it is said to.
struct Peer {
  std::string_view name;
  Isa isa;
  std::string_view phases;
  std::string_view description;
  std::function<std::unique_ptr<const Encoder>(const EncodingSpec&, const Backend&)> make;
  bool writes_float64 = false;
};

void register_peer(Peer peer);

/// Makes an encoder of type E, whose constructor takes the arguments after spec and backend.
template <class E, class... Arguments>
auto maker(Arguments... arguments) {
  return [=](const EncodingSpec& spec, const Backend& backend) {
    return std::make_unique<E>(spec, backend, arguments...);
  };
}

/// w_k as a user of a vectorised sine computes it: in double, then rounded to T. A rule of
/// frequencies gives them in double. Padded with zeros to a multiple of `padding`.
template <class T>
std::vector<T> radians(const EncodingSpec& spec) {
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

/// The largest error of a phase, divided by the position. In float32 the position, the frequency
/// and their product each carry a relative 2^-24. In double the frequency carries 2^-53 of pow and
/// 2^-53 |ln w| of the exponent, the product 2^-53 more; w |ln w| is at most 1 / e. A frequency of
/// a rule is at most pi.
template <class T>
double phase_error(const EncodingSpec& spec) {
  const double of_base = sizeof(T) == sizeof(float) ? 3.01 * 0x1p-24 : 3 * 0x1p-53;
  return is_base(spec.frequencies) ? of_base : 3.15 * of_base;
}

/// A library's sines and cosines of position times frequency, in phases of type T.
template <class T>
class SincosPeer final : public Encoder {
 public:
  /// `ulps`: largest error of the library's sine and cosine, of a value below 1.
  SincosPeer(const EncodingSpec& spec, const Backend& backend, SincosKernel<T> kernel, double ulps)
      : Encoder(spec, backend),
        kernel_(kernel),
        sine_error_(ulps * (sizeof(T) == sizeof(float) ? 0x1p-24 : 0x1p-53)),
        radians_(radians<T>(spec)) {}

  double error_bound(RowRange rows, DataType type) const noexcept override {
    const auto last = static_cast<double>(rows.farthest());
    const bool is_rounded = sizeof(T) == sizeof(double) && type != DataType::float64;
    const double rounding = is_rounded ? 0x1p-25 : 0;
    return std::min(any_error, rounding + sine_error_ + last * phase_error<T>(spec()));
  }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    kernel_({spec().d_model / 2, columns_of(spec()), radians_.data()}, task);
  }

  SincosKernel<T> kernel_;
  double sine_error_;
  std::vector<T> radians_;
};

void register_library(const LibraryKernel& library, Isa isa, bool writes_float64 = false);

// Methods, and libraries that are not compiled once for each ISA.
void register_highway();
void register_llvm_libc();
void register_ggml_recurrence();

}  // namespace posenc::peers
