// Heads before and after a kernel, and the turns of pairs of channels that they show. Internal: not
// installed.
#pragma once

#include "posenc/check/columns.h"
#include "posenc/check/report.h"
#include "posenc/model/rotary.h"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace posenc::check {
inline namespace internals {

using Complex = std::complex<double>;

/// The noise of a length is the noise of an angle times this.
inline constexpr double length_noise = 0.73 / 0.42;

/// The error that the rounding of elements causes in the mean angle of many heads. An angle far
/// below an ulp leaves every element unchanged. As near to another multiple of a quarter turn,
/// every element becomes the other element of its pair. All heads then stick to that multiple. At a
/// distance of some ulp, the different elements act as dither. A normal spread of s ulp leaves
/// 2 exp(-2 pi^2 s^2) of the error; here s is half of the distance.
double sticking(double angle, DataType type) noexcept;

/// The pairs of angles, by their places.
std::vector<TablePair> pairs_by_place(const model::AxesSpec& angles);

/// The pairs of channels in a head.
struct Pairing {
  std::vector<std::array<std::size_t, 2>> channels = {};  ///< the two channels of each pair
  std::string text = {};                                  ///< "(k, 64 + k), halves"

  /// Pairs k and k + distance, or 2 k and 2 k + 1, after the first `offset` channels.
  Pairing(model::RotaryLayout layout, std::int64_t count, std::int64_t distance,
          std::int64_t offset);
  bool operator==(const Pairing& other) const { return channels == other.channels; }
  /// For each channel of a head, whether it belongs to a pair.
  std::vector<bool> are_turned(std::size_t channels_of_head) const;
};

/// A rotary embedding that a kernel may apply, and the pairs that it turns.
struct Reading {
  model::RotarySpec rotary;
  Pairing pairing;
  std::string fault = {};  ///< why it has another dimension than the claim; may be empty
  int differences = 0;     ///< the number of differences from the claim
};

/// Returns the claimed reading, followed by the readings that kernels are known to confuse with it.
/// Readings with fewer differences come first.
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
  std::int64_t row = 0;               ///< the number of the row
  std::size_t channels = 0;           ///< channels of each head
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
  std::int64_t channels() const noexcept { return before.sizes[2]; }
  /// All heads of a row, or at most `most` of them.
  HeadsOfRow row(std::int64_t number, std::int64_t most) const;
  HeadsOfRow row(std::int64_t number) const { return row(number, heads()); }
};

/// Some rows of heads, from which the pairs are found.
std::vector<HeadsOfRow> sample_of(const Heads& heads);

/// The share of the squared elements that turns of these pairs leave unexplained. All turns are
/// taken to scale lengths by one common factor, and all other channels to be unchanged.
double unexplained(const std::vector<HeadsOfRow>& sample, const Pairing& pairing);

/// The share that rounding to this type may leave unexplained.
double unexplained_by_rounding(DataType type) noexcept;

}  // namespace internals
}  // namespace posenc::check
