// What the entries of a table show by themselves: frequencies, phases, amplitude and positions.
// Internal: not installed.
//
// Method. A pair (cosine, sine) of one frequency is a point on a circle. A column alone becomes
// one, too: x_(r-m) + x_(r+m) = 2 cos(m w) x_r gives the frequency w by least squares, and x_(r-m)
// - x_(r+m) = 2 sin(m w) times the other function. The angle between rows r and r + m is m w: for m
// = 1, 2, 4, ... each one refines the last, since it is known up to turns. The angle of row 0 gives
// the first position.
#pragma once

#include "posenc/suite/checking/check.h"
#include "posenc/suite/checking/conventions.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace posenc::suite {

/// A table in one arrangement.
struct Recovered {
  std::vector<FrequencyEstimate> each;  ///< of some of the frequencies
  double factor = 1;                    ///< of all entries
  bool turns_backwards = false;         ///< the frequencies are those of the opposite sense
};

Recovered recover(const TableView& table, const std::vector<bool>& is_unset,
                  Arrangement arrangement);

/// The position of row 0, if the estimates show it; `usual` if it is as good as any. `frequencies`
/// are those of all k.
std::optional<std::int64_t> first_position(std::span<const FrequencyEstimate> estimates,
                                           std::span<const double> frequencies, double angle_error,
                                           std::int64_t usual);

/// The position of each row of a table whose entries are pairs, if they are not first + step row:
/// packed sequences, repeated or shuffled positions. Empty if there is none.
std::vector<std::int64_t> positions_of_rows(const TableView& table,
                                            const std::vector<bool>& is_unset,
                                            const TableIdentity& identity);

}  // namespace posenc::suite
