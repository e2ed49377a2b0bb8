/// @file
/// Checks a kernel that turns queries or keys by rotary angles. It compares heads before and after
/// the kernel.
///
///     const auto report = posenc::check::heads(before, after, rotary, {.first = 131000});
///     if (!report.is_good) std::cerr << posenc::check::to_string(report);
///
/// Every pair of channels is a complex number. The kernel multiplies it by a number c of length 1
/// that has the angle in question. Least squares over all heads of a row give c:
///
///     c = sum conj(before) after / sum |before|^2
///
/// Because elements are rounded, the angle of c is noisy. The noise is the standard deviation of
/// this angle, which falls with the square root of the number of heads. The error of an angle may
/// be as large as the sum of one ulp of float32 at 1, the cost of a phase in double (table.h), and
/// six times the noise. An angle that the rounding of elements hides is good, too. Heads should
/// hold random numbers: zeros show nothing, and equal heads count as one.
#pragma once

#include "posenc/check/report.h"
#include "posenc/data_type.h"
#include "posenc/model/rotary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc::check {

/// The claims about the kernel besides the rotary embedding, and how it is checked.
struct HeadsOptions {
  std::int64_t first = 0;  ///< the position of row 0; the next rows follow
  /// Positions of all rows, in place of `first`.
  std::optional<model::RowPositions> positions = {};
  /// Positions count multiples of 1 / denominator: RealPositions::denominator.
  double denominator = 1;
  /// The number of channels before the pairs, such as the channels of latent attention that are
  /// not turned.
  std::int64_t offset = 0;
  /// Embeddings that the kernel may have confused with the claimed one, such as the one of other
  /// layers, with their names: "the layers sliding_attention".
  std::vector<std::pair<std::string, model::RotarySpec>> others = {};
  /// Allowed error of an angle in radians besides six times the noise, in place of the rule above.
  std::optional<double> max_error = {};
  int threads = 1;  ///< at least 1
};

/// Errors of angles, in radians.
struct AngleErrors {
  double max = 0;          ///< largest error
  double rms = 0;          ///< root mean square of the errors
  double noise = 0;        ///< root mean square of the noise of the angles
  std::int64_t count = 0;  ///< number of angles that the heads show
};

/// The verdict on a kernel.
struct HeadsReport {
  /// True if every angle and every length is good, and exactly the claimed channels are turned.
  bool is_good = false;
  std::int64_t rows = 0;              ///< number of rows, once the order of dimensions was found
  std::int64_t heads = 0;             ///< number of heads in each row
  DataType type = DataType::float32;  ///< type of the elements after the kernel
  model::RotarySpec rotary = {};      ///< the rotary embedding that the kernel was judged by
  AngleErrors errors = {};            ///< errors of all angles
  double max_length_error = 0;        ///< largest |length / attention factor - 1|
  double allowed_error = 0;           ///< largest allowed error of an angle, besides the noise
  std::int64_t angles_off = 0;        ///< number of angles whose error or length is not good
  std::int64_t worst_row = 0;         ///< row of the largest error
  std::int64_t worst_pair = 0;        ///< pair of the largest error
  /// The errors in one octave of positions. A row counts by its farthest position on any axis.
  struct Octave {
    std::int64_t least;  ///< smallest magnitude of a position that occurs
    std::int64_t most;   ///< largest magnitude of a position that occurs
    AngleErrors errors;  ///< errors at these positions
  };
  std::vector<Octave> by_position = {};    ///< the octaves that occur
  std::vector<AngleErrors> by_pair = {};   ///< errors of each pair that is turned
  std::vector<Cause> causes = {};          ///< empty if the kernel is good, or if no cause is known
  std::vector<std::string> findings = {};  ///< measurements, if no cause is known
};

/// Checks a kernel by heads before and after it. Throws InvalidArgument if the heads are all zero,
/// differ in shape, have fewer channels than the rotary embedding turns, or have another number of
/// rows than there are positions.
HeadsReport heads(const HeadsTable& before, const HeadsTable& after,
                  const model::RotarySpec& rotary, const HeadsOptions& options = {});

/// The verdict, the shape and the rotary embedding, and the causes: three lines, and one per
/// finding.
std::string to_string(const HeadsReport& report);

}  // namespace posenc::check
