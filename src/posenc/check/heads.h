/// @file
/// Checks a kernel that turns queries or keys by rotary angles: by heads before and after it.
///
///     const auto report = posenc::check::heads(before, after, rotary, {.first = 131000});
///     if (!report.is_good) std::cerr << to_string(report);
///
/// Every pair of channels is a complex number, which the kernel multiplies by one of length 1 and
/// of the angle in question. Least squares over all heads of a row give it:
///
///     c = sum conj(before) after / sum |before|^2
///
/// Elements are rounded: the noise is the standard deviation of the angle of c, which falls with
/// the root of the number of heads. An angle is good within an ulp of float32 at 1 and six times
/// the noise. Heads should hold random numbers: with zeros there is nothing to see, and equal heads
/// count as one.
#pragma once

#include "posenc/check/report.h"
#include "posenc/data_type.h"
#include "posenc/model/rotary.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace posenc::check {

/// Heads to read: shape (rows, heads, channels), or with rows and heads exchanged.
struct HeadsTable {
  const void* data = nullptr;                ///< the first channel
  DataType type = DataType::float32;         ///< of the elements
  std::array<std::int64_t, 3> sizes = {};    ///< of these dimensions
  std::array<std::int64_t, 3> strides = {};  ///< elements from one index to the next
};

/// What the kernel should have done, besides the rotary embedding.
struct HeadsOptions {
  std::int64_t first = 0;  ///< the position of row 0; the next ones follow
  /// Of all rows, instead of a first one.
  std::optional<RowPositions> positions = {};
  /// An angle may be off by this and six times the noise, instead of the rule above. Radians.
  std::optional<double> max_error = {};
  int threads = 1;  ///< at least 1
};

/// Of some angles, in radians.
struct AngleErrors {
  double max = 0;          ///< the largest
  double rms = 0;          ///< the root mean square
  double noise = 0;        ///< that of what they are uncertain by
  std::int64_t count = 0;  ///< of the angles that heads show
};

/// The verdict on a kernel.
struct HeadsReport {
  bool is_good = false;               ///< every angle, and every length
  std::int64_t rows = 0;              ///< as they were found
  std::int64_t heads = 0;             ///< of each row
  DataType type = DataType::float32;  ///< of the elements after the kernel
  RotarySpec rotary = {};             ///< that the kernel was judged by
  AngleErrors errors = {};            ///< of all angles
  double max_length_error = 0;        ///< largest |length / attention factor - 1|
  double allowed_error = 0;           ///< the largest that is good, besides the noise
  std::int64_t angles_off = 0;        ///< beyond what is good, in angle or length
  std::int64_t worst_row = 0;         ///< of the largest error
  std::int64_t worst_pair = 0;        ///< of it
  /// By octaves of the farthest position of a row on any axis.
  struct Octave {
    std::int64_t least;  ///< position that occurs, without its sign
    std::int64_t most;   ///< such a position
    AngleErrors errors;  ///< at these
  };
  std::vector<Octave> by_position = {};    ///< those that occur
  std::vector<AngleErrors> by_pair = {};   ///< dimension / 2 of them
  std::vector<Cause> causes = {};          ///< empty if good, or if none is known
  std::vector<std::string> findings = {};  ///< which pairs are off, if others are right
};

/// Throws InvalidArgument if the heads are all zero, differ in shape, have fewer channels than the
/// rotary embedding turns, or not as many rows as there are positions.
HeadsReport heads(const HeadsTable& before, const HeadsTable& after, const RotarySpec& rotary,
                  const HeadsOptions& options = {});

/// The verdict, what was judged, and the causes: three lines, and one for each finding.
std::string to_string(const HeadsReport& report);

}  // namespace posenc::check
