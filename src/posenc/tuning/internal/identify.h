// What a table is: its arrangement, frequencies, first position and factor, from its values.
// Internal: not installed.
//
// Method. A pair (cosine, sine) of one frequency is a point on a circle. The angle between rows r
// and r + m is m w: for m = 1, 2, 4, ... each one refines the last, since it is known up to turns.
// That gives every frequency, and the angle of row 0 gives the first position. Of cosines or sines
// alone, the angles are known up to their sign, and position 0 has to be row 0 (or known). A
// convention is then fitted to the frequencies: of the candidates that fit, from the usual to the
// unusual, the first is taken whose values, with exact phases or with those that programs compute
// in float32, are about as near to the entries as the nearest.
// Every arrangement is tried, and the one is taken whose exact values agree with most entries.
#pragma once

#include "posenc/tuning/check.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace posenc {

/// What is known of a table beforehand.
struct IdentityHints {
  std::optional<EncodingSpec> spec;  ///< d_model 0: any
  std::optional<Arrangement> arrangement;
  std::optional<std::int64_t> first;
};

/// `is_unset[row]` excludes rows. Empty if no known table agrees with most entries.
std::optional<TableIdentity> identify(const TableView& table, const std::vector<bool>& is_unset,
                                      const IdentityHints& hints);

/// One frequency, as far as a table shows it.
struct FrequencyEstimate {
  std::int64_t k = 0;
  double frequency = 0;    ///< radians per position
  double uncertainty = 0;  ///< of the frequency; infinity if the table does not show it
  double phase = 0;        ///< at row 0; NaN if the table does not show it
};

/// The spec that fits; `count` frequencies in all. Empty if none does within a few percent.
std::optional<EncodingSpec> fit_frequencies(std::span<const FrequencyEstimate> estimates,
                                            std::int64_t count, double factor,
                                            const std::optional<EncodingSpec>& expected);

/// All that may be the one, at least with other entries than those of the estimates: from the usual
/// to the unusual.
std::vector<EncodingSpec> plausible_frequencies(std::span<const FrequencyEstimate> estimates,
                                                std::int64_t count, double factor,
                                                const std::optional<EncodingSpec>& expected);

/// The frequencies of a spec as doubles, in radians per position.
std::vector<double> frequencies_of(const EncodingSpec& spec);

/// At most `most` of 0 .. count - 1, evenly spread, with both ends.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most);

}  // namespace posenc
