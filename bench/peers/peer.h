// What all peers have in common.
#pragma once

#include "kernels.h"

#include "posenc/backends/vectorised.h"
#include "posenc/encoder.h"
#include "posenc/exact/frequency.h"
#include "posenc/registry.h"
#include "posenc/simd/row_task.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::peers {

/// The largest error that values between -1 and 1 can have.
inline constexpr double any_error = 2;

/// Writes float32 tables, as the libraries' users do, and float64 if it is said to.
class PeerBackend final : public Backend {
 public:
  using Maker = std::function<std::unique_ptr<const Encoder>(const EncodingSpec&, const Backend&)>;

  PeerBackend(std::string_view name, Isa isa, std::string_view phases, std::string_view description,
              Maker maker, bool writes_float64 = false)
      : name_(name),
        phases_(phases),
        description_(description),
        isa_(isa),
        maker_(std::move(maker)),
        writes_float64_(writes_float64) {}

  std::string_view name() const noexcept override { return name_; }
  std::string_view description() const noexcept override { return description_; }
  std::string_view phases() const noexcept override { return phases_; }
  Isa isa() const noexcept override { return isa_; }
  bool can_be_picked() const noexcept override { return false; }
  bool supports(DataType type) const noexcept override {
    return type == DataType::float32 || (type == DataType::float64 && writes_float64_);
  }

 private:
  std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const override {
    return maker_(spec, *this);
  }

  std::string name_;
  std::string phases_;
  std::string description_;
  Isa isa_;
  Maker maker_;
  bool writes_float64_;
};

using Peers = std::vector<std::unique_ptr<Backend>>;

/// w_k as a user of a vectorised sine computes it: in double, then rounded to T. A rule of
/// frequencies gives them in double. Padded with zeros to a multiple of `padding`.
template <class T>
std::vector<T> radians(const EncodingSpec& spec) {
  const std::int64_t count = spec.d_model / 2;
  std::vector<T> all(static_cast<std::size_t>((count + padding - 1) / padding * padding));
  const auto w = [&](std::int64_t k) -> T& { return all[static_cast<std::size_t>(k)]; };
  if (is_base(spec.frequencies)) {
    const auto denominator = static_cast<double>(exponent_denominator(spec));
    for (std::int64_t k = 0; k < count; ++k)
      w(k) = static_cast<T>(std::pow(spec.base, -static_cast<double>(k) / denominator));
  } else {
    const Frequencies exact(spec);
    for (std::int64_t k = 0; k < count; ++k) w(k) = static_cast<T>(to_radians(exact[k]));
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

template <class T>
inline constexpr std::string_view phases_of = sizeof(T) == sizeof(float) ? "float32" : "double";

/// A library's sines and cosines of position times frequency, in phases of type T.
template <class T>
class SincosPeer final : public Encoder {
 public:
  /// `sine_error`: largest absolute error of the library's sine and cosine.
  SincosPeer(const EncodingSpec& spec, const Backend& backend, SincosKernel<T> kernel,
             double sine_error)
      : Encoder(spec, backend),
        kernel_(kernel),
        sine_error_(sine_error),
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

/// Adds nothing if the kernel is null.
template <class T>
void add_sincos_peer(Peers& peers, std::string_view name, Isa isa, std::string_view description,
                     SincosKernel<T> kernel, double sine_error, bool writes_float64 = false) {
  if (kernel == nullptr) return;
  const auto make = [=](const EncodingSpec& spec, const Backend& backend) {
    return std::make_unique<SincosPeer<T>>(spec, backend, kernel, sine_error);
  };
  peers.push_back(
      std::make_unique<PeerBackend>(name, isa, phases_of<T>, description, make, writes_float64));
}

// One maker a library or method.
void add_simd_peers(Peers& peers);  ///< SLEEF, libmvec, Eigen
void add_highway_peers(Peers& peers);
void add_llvm_libc(Peers& peers);
void add_ggml_recurrence(Peers& peers);
void add_drifting_rotation(Peers& peers);

/// The kernels of every ISA that the vectorised peers are compiled for, ascending.
std::vector<const Kernels*> peer_kernels();

}  // namespace posenc::peers
