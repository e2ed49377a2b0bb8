// The contents of the columns of a right table: functions, frequencies, and the error that is
// allowed. Internal: not installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/suite/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// The frequency and the function of a column.
struct ColumnContent {
  std::int64_t k;
  bool is_cosine;
};

/// The places of the two columns of a frequency, and their functions.
struct ColumnOrder {
  enum Place { side_by_side, in_halves, one } place;
  bool first_is_cosine, second_is_cosine;
};

constexpr ColumnOrder order_of(Arrangement arrangement) noexcept {
  constexpr auto side_by_side = ColumnOrder::side_by_side, in_halves = ColumnOrder::in_halves,
                 one = ColumnOrder::one;
  constexpr ColumnOrder orders[] = {
      {side_by_side, false, true},  {in_halves, false, true},  {in_halves, true, false},
      {side_by_side, true, false},  {one, true, true},         {one, false, false},
      {in_halves, true, true},      {in_halves, false, false}, {side_by_side, true, true},
      {side_by_side, false, false}, {one, false, true}};
  static_assert(std::size(orders) == std::size(all_arrangements));
  return orders[static_cast<std::size_t>(arrangement)];
}

/// True if the table has a sine and a cosine of every frequency.
constexpr bool has_both_functions(Arrangement arrangement) noexcept {
  return arrangement <= Arrangement::interleaved_cos_first;
}

/// True if the last pair of the table lacks its second column: the width is odd.
constexpr bool has_half_a_pair(Arrangement arrangement, std::int64_t columns) noexcept {
  return columns % 2 != 0 && columns >= 3 && has_both_functions(arrangement) &&
         order_of(arrangement).place == ColumnOrder::side_by_side;
}

/// The number of frequencies in a table with this number of columns; 0 if it cannot have the
/// arrangement.
constexpr std::int64_t frequencies_in(Arrangement arrangement, std::int64_t columns) noexcept {
  const bool is_one = order_of(arrangement).place == ColumnOrder::one;
  if (is_one && arrangement != Arrangement::alternating) return columns;
  if (has_half_a_pair(arrangement, columns)) return columns / 2 + 1;
  return columns % 2 != 0 ? 0 : is_one ? columns : columns / 2;
}

constexpr ColumnContent content_of(Arrangement arrangement, std::int64_t columns,
                                   std::int64_t column) noexcept {
  const auto [place, first_is_cosine, second_is_cosine] = order_of(arrangement);
  const std::int64_t half = columns / 2;
  const bool is_second = place == ColumnOrder::in_halves ? column >= half : column % 2 == 1;
  const std::int64_t k = place == ColumnOrder::side_by_side             ? column / 2
                         : place == ColumnOrder::in_halves && is_second ? column - half
                                                                        : column;
  return {k, is_second ? second_is_cosine : first_is_cosine};
}

/// The function of a column at this phase.
inline double wave(bool is_cosine, double phase) noexcept {
  return is_cosine ? std::cos(phase) : std::sin(phase);
}

/// The two columns of frequency k, and the function in each. Both are equal if the frequency has
/// only one column.
inline suite::PairColumns pair_columns(Arrangement arrangement, std::int64_t columns,
                                       std::int64_t k) noexcept {
  const ColumnOrder::Place place = order_of(arrangement).place;
  const std::int64_t first = place == ColumnOrder::side_by_side ? 2 * k : k,
                     second = place == ColumnOrder::side_by_side ? std::min(2 * k + 1, columns - 1)
                              : place == ColumnOrder::in_halves  ? k + columns / 2
                                                                 : k;
  return {{first, second},
          {content_of(arrangement, columns, first).is_cosine,
           content_of(arrangement, columns, second).is_cosine}};
}

/// Completes a spec without d_model for a table of this odd width. With paper spacing, w_k =
/// base^(-2 k / width).
EncodingSpec of_odd_width(EncodingSpec spec, std::int64_t width);

/// The wanted spec for a table of this arrangement and width. A d_model of 0 stands for the d_model
/// of the table. Empty if the spec has another d_model, or if the table cannot have the
/// arrangement.
std::optional<EncodingSpec> spec_for(const EncodingSpec& wanted, Arrangement arrangement,
                                     std::int64_t columns);

/// Frequency k of the spec's base, divided by the factor of LinearScaling if the spec has that
/// rule.
double frequency_of(const EncodingSpec& spec, std::int64_t k) noexcept;

/// The frequencies of a spec as doubles, in radians per position. Frequencies of the base, of
/// LinearScaling and of OwnFrequencies are not reduced. Other rules give them from -pi to pi.
std::vector<double> frequencies_of(const EncodingSpec& spec);

/// The rule of the spec's frequencies divided by a power of two.
FrequencyRule divided(const EncodingSpec& spec, double denominator);

/// A frequency of a table, and the columns that it fills.
struct TablePair {
  std::size_t part;    ///< index into the parts of the axes; 0 if the table has no axes
  std::int64_t axis;   ///< the axis whose positions it encodes
  std::int64_t k;      ///< number of the frequency in the part's encoding
  std::int64_t place;  ///< number of the pair in the table
  double frequency;    ///< in radians per position
  suite::PairColumns to;
};

/// All pairs of a table with this number of columns.
std::vector<TablePair> pairs_of_table(const TableIdentity& identity, std::int64_t columns);

/// The largest error that is good at this phase, for entries of this type and factor. table.h
/// states the rule.
double allowed_error(DataType type, double factor, double phase) noexcept;

}  // namespace internals
}  // namespace posenc::check
