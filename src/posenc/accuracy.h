/// @file
/// The accuracy that a program asks for, and the accuracy that a backend promises. Both are proven
/// bounds, never measurements.
///
///     const auto accuracy = posenc::Accuracy::within(1e-6);
#pragma once

#include "posenc/data_type.h"
#include "posenc/spec.h"

#include <limits>
#include <string>

namespace posenc {

class Encoder;

/// Proven bounds of the errors of a table.
struct Promise {
  /// Bound of |entry - exact value|.
  double max_abs = std::numeric_limits<double>::infinity();
  /// Bound of |entry - exact value| in ulp, the spacing of the type at the exact value. Infinity if
  /// there is no bound in ulp.
  double max_ulp = std::numeric_limits<double>::infinity();
  /// True if every entry is the value of its type nearest to the exact value.
  bool is_correctly_rounded = false;

  bool operator==(const Promise&) const = default;
};

/// The bounds that the encoder promises for a table of this type over these rows.
Promise promise_of(const Encoder& encoder, RowRange rows, DataType type = DataType::float32);

/// The accuracy that a program asks for. The fastest backend that promises it is selected.
class Accuracy {
 public:
  /// The quantity that most() limits: none, the absolute error, or the error in ulp.
  enum class Measure { correctly_rounded, absolute, ulp };

  /// Asks for correctly rounded entries.
  constexpr Accuracy() noexcept = default;

  /// Every entry is the value of its type nearest to the exact value, on every machine.
  static constexpr Accuracy correctly_rounded() noexcept { return {}; }

  /// |entry - exact value| <= error for every entry. Throws InvalidArgument unless `error` is
  /// finite and above 0.
  static Accuracy within(double error);

  /// |entry - exact value| <= `ulp` spacings of the type at the exact value, for every entry. Only
  /// correctly rounded backends promise a bound in ulp. Throws InvalidArgument unless `ulp` is
  /// finite and above 0.
  static Accuracy within_ulp(double ulp);

  /// The quantity that is limited.
  Measure measure() const noexcept { return measure_; }
  /// The largest allowed error; 0 if correctly rounded.
  double most() const noexcept { return most_; }

  /// True if a backend with this promise meets the accuracy.
  bool is_kept_by(const Promise& promise) const noexcept;

  bool operator==(const Accuracy&) const = default;

 private:
  constexpr Accuracy(Measure measure, double most) noexcept : measure_(measure), most_(most) {}

  Measure measure_ = Measure::correctly_rounded;
  double most_ = 0;
};

/// The accuracy as text: "correctly rounded", "within 1e-06" or "within 1 ulp".
std::string to_string(const Accuracy& accuracy);

}  // namespace posenc
