// Heads before and after a kernel, and the turns of pairs of channels that they show. Internal: not
// installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/model/rotary.h"

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace posenc::check {
inline namespace internals {

using Complex = std::complex<double>;

/// The noise of a length is the noise of an angle times this.
inline constexpr double length_noise = 0.73 / 0.42;

/// The error of the mean angle of many heads that rounding of their elements causes. An angle far
/// below an ulp leaves every element unchanged. Near a multiple of a quarter turn, every element
/// becomes the other element of its pair. All heads then stick to that angle. Angles of some ulp
/// are dithered by the elements. A normal spread of s ulp leaves 2 exp(-2 pi^2 s^2) of the error;
/// here s is half of the angle.
double sticking(double angle, DataType type) noexcept;

/// The pairs of channels in a head.
struct Pairing {
  std::vector<std::array<std::size_t, 2>> channels = {};  ///< the two channels of each pair
  std::string text = {};                                  ///< "(k, 64 + k), halves"

  /// Pairs k and k + distance, or 2 k and 2 k + 1, behind the first `offset` channels.
  Pairing(model::RotaryLayout layout, std::int64_t count, std::int64_t distance,
          std::int64_t offset);
  bool operator==(const Pairing& other) const { return channels == other.channels; }
};

/// A rotary embedding that a kernel may apply, and the pairs that it turns.
struct Reading {
  model::RotarySpec rotary;
  Pairing pairing;
  std::string fault = {};  ///< why it has another dimension than the claim; may be empty
};

/// The claimed reading first, and then the readings that kernels are known to confuse with it, the
/// ones with the fewest differences first.
std::vector<Reading> readings_of(const model::RotarySpec& claimed, std::int64_t channels,
                                 std::int64_t offset);

/// The turn of one pair, as the heads of a row show it.
struct Turn {
  Complex factor = 0;  ///< multiplies the heads; not finite if one of them is not
  double noise = 0;    ///< standard deviation of the angle; NaN if all heads are zero
  /// Sums of the squared lengths before and after the kernel.
  double before = 0, after = 0;
};

/// Some heads of one row, head after head.
struct HeadsOfRow {
  std::int64_t count = 0, channels = 0;
  DataType type = DataType::float32;  ///< the type of the elements after the kernel
  std::vector<double> before = {}, after = {};

  /// The turns of all pairs.
  std::vector<Turn> turns(const Pairing& pairing) const;
};

/// Heads before and after a kernel: shape (rows, heads, channels).
struct Heads {
  HeadsTable before, after;

  std::int64_t rows() const noexcept { return before.sizes[0]; }
  std::int64_t heads() const noexcept { return before.sizes[1]; }
  /// All heads of a row, or at most `most` of them.
  HeadsOfRow row(std::int64_t row, std::int64_t most) const;
};

/// Some rows of heads, from which the pairs are found.
struct SampledHeads {
  explicit SampledHeads(const Heads& heads);

  /// The share of the squared elements that turns of these pairs leave unexplained, if all pairs
  /// have one length. Channels beside the pairs should be unchanged.
  double unexplained(const Pairing& pairing) const;
  /// The same for exact angles: channel i of pair k turns by angle(row, k, i).
  template <class Angle>
  double unexplained(const Pairing& pairing, double length, const Angle& angle) const;
  /// The share that rounding of elements may leave unexplained.
  double unexplained_by_rounding() const noexcept;

  std::vector<std::int64_t> numbers;  ///< the numbers of the rows
  std::vector<HeadsOfRow> rows;
};

template <class Angle>
double SampledHeads::unexplained(const Pairing& pairing, double length, const Angle& angle) const {
  double unlike = 0, squares = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const HeadsOfRow& row = rows[r];
    for (std::size_t k = 0; k < pairing.channels.size(); ++k) {
      const auto [i, j] = pairing.channels[k];
      const Complex turn[] = {std::polar(length, angle(numbers[r], k, i)),
                              std::polar(length, angle(numbers[r], k, j))};
      for (std::size_t at = 0; at < row.before.size();
           at += static_cast<std::size_t>(row.channels)) {
        const double a = row.before[at + i], b = row.before[at + j],
                     off[] = {row.after[at + i] - a * turn[0].real() + b * turn[0].imag(),
                              row.after[at + j] - b * turn[1].real() - a * turn[1].imag()};
        const double square = off[0] * off[0] + off[1] * off[1];
        if (!(square < 1e300)) continue;
        unlike += square;
        squares += row.after[at + i] * row.after[at + i] + row.after[at + j] * row.after[at + j];
      }
    }
  }
  return squares > 0 ? unlike / squares : 0;
}

}  // namespace internals
}  // namespace posenc::check
