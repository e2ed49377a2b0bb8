// The ways in which programs compute phases in float32: what a table with such phases is identified
// by, and what the cause of its errors is told from. Internal: not installed.
#pragma once

#include "posenc/spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace posenc {

/// The position times a float32 of each frequency, or divided by one.
struct Float32Way {
  std::string text;             ///< whose: "phases in float32, as PyTorch's tutorial ..."
  std::vector<float> operands;  ///< one for each frequency
  bool divides = false;         ///< by the operand
  std::string adjusted_text;    ///< what an operand's last digit is of: "exp"; empty if certain

  /// `adjusted` is -1, 0 or 1: the operand one float32 lower or higher, for a C library whose last
  /// digit is off.
  double phase(std::int64_t k, std::int64_t position, int adjusted = 0) const noexcept;
};

/// All that programs use for this spec.
std::vector<Float32Way> float32_ways(const EncodingSpec& spec);

/// True if Transformers has the spec's frequencies.
bool has_transformers_rule(const EncodingSpec& spec);

/// The frequencies as the nearest float32.
std::vector<float> once_rounded_frequencies(const EncodingSpec& spec);

}  // namespace posenc
