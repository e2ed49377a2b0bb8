/// @file
/// The accuracy that a program asks for, and what a backend promises: proven bounds, never
/// measurements.
///
///     posenc::Accuracy::within(1e-6)
#pragma once

#include "posenc/data_type.h"
#include "posenc/spec.h"

#include <limits>
#include <string>

namespace posenc {

class Encoder;

/// Proven bounds of the errors of a table.
struct Promise {
  double max_abs = std::numeric_limits<double>::infinity();  ///< of |entry - exact value|
  /// Of |entry - exact value| in ulp, the spacing of the type at the exact value; infinity if there
  /// is none.
  double max_ulp = std::numeric_limits<double>::infinity();
  /// Every entry is the value of its type nearest to the exact one.
  bool is_correctly_rounded = false;

  bool operator==(const Promise&) const = default;
};

/// What the encoder promises for a table of that type over these rows.
Promise promise_of(const Encoder& encoder, RowRange rows, DataType type = DataType::float32);

/// The accuracy that a program asks for. Of the backends that promise it, the fastest is selected.
class Accuracy {
 public:
  /// What most() limits: nothing, the absolute error, or the error in ulp.
  enum class Measure { correctly_rounded, absolute, ulp };

  /// Correctly rounded.
  constexpr Accuracy() noexcept = default;

  /// Every entry is the value of its type nearest to the exact one, on every machine.
  static constexpr Accuracy correctly_rounded() noexcept { return {}; }

  /// |entry - exact value| <= error, for every entry. Throws InvalidArgument unless `error` is
  /// finite and above 0.
  static Accuracy within(double error);

  /// |entry - exact value| <= ulp spacings of the type at the exact value, for every entry, which
  /// only correctly rounded backends promise. Throws InvalidArgument unless finite and above 0.
  static Accuracy within_ulp(double ulp);

  /// In what the error is limited.
  Measure measure() const noexcept { return measure_; }
  /// The largest allowed error; 0 if correctly rounded.
  double most() const noexcept { return most_; }

  /// True if a backend that promises this keeps the accuracy.
  bool is_kept_by(const Promise& promise) const noexcept;

  bool operator==(const Accuracy&) const = default;

 private:
  constexpr Accuracy(Measure measure, double most) noexcept : measure_(measure), most_(most) {}

  Measure measure_ = Measure::correctly_rounded;
  double most_ = 0;
};

/// "correctly rounded", "within 1e-06", "within 1 ulp"
std::string to_string(const Accuracy& accuracy);

}  // namespace posenc
