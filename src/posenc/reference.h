// The reference: the long-double truth that every backend is measured against.
#pragma once

#include "posenc/data_type.h"
#include "posenc/frequency.h"
#include "posenc/spec.h"

#include <cstdint>

namespace posenc {

/// Sine and cosine of one frequency at one position, each within Reference::relative_error of the exact value, relatively.
struct ReferencePair {
  long double sine;
  long double cosine;
};

/// Exact phases (frequencies of 256 bits, see frequency.h), reduced to an eighth of a turn in two long doubles; then the C library's sinl
/// and cosl: another method than any backend's. Good at every position up to max_position.
class Reference {
 public:
  /// Throws InvalidArgument on a bad spec, std::runtime_error where long double is no wider than double.
  explicit Reference(const EncodingSpec& spec);

  const EncodingSpec& spec() const noexcept { return spec_; }

  ReferencePair operator()(std::int64_t k, std::int64_t position) const noexcept;

  /// The value of that type nearest to the exact one: from the long double where that is certain, else from 118 bits.
  double nearest(std::int64_t k, std::int64_t position, bool cosine, long double value,
                 DataType type = DataType::float32) const noexcept;

  /// Relative to the value. sinl and cosl of the C library are within 1 ulp (2^-63), the phase's rest adds half a one.
  static constexpr long double relative_error = 0x1p-62L;

 private:
  EncodingSpec spec_;
  Frequencies frequencies_;
};

}  // namespace posenc
