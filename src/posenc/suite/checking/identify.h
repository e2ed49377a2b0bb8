// What a table is: its arrangement, frequencies, positions and factor, from its values. Internal:
// not installed.
//
// Every arrangement is tried with the conventions that its columns show (recover.h, conventions.h),
// and the hypothesis is taken that leaves the fewest bits open (ways.h), with exact phases or with
// those that programs compute in float32: base 9763 with inclusive spacing has nearly the
// frequencies of base 10000 at a width of 768.
#pragma once

#include "posenc/suite/checking/check.h"
#include "posenc/suite/checking/ways.h"

#include <optional>
#include <string>
#include <vector>

namespace posenc::suite {

/// What a table is, and what it may have been meant to be.
struct Identified {
  TableIdentity identity;
  double bits = 0;             ///< that it takes to say it
  std::string mistake = {};    ///< if nobody wants such a table: what went wrong
  EncodingSpec intended = {};  ///< with a mistake: the spec that was meant
  double explained = 1;        ///< the share of the bits that columns of constants leave open
};

/// `is_unset[row]` excludes rows; what the options claim takes no bits. Empty if no known table
/// leaves fewer bits open than columns of constants.
std::optional<Identified> identify(const TableView& table, const std::vector<bool>& is_unset,
                                   const Sample& sample, const CheckOptions& options);

/// What is good at that position, for entries of a type with that factor: the rule of check.h.
double allowed_error(DataType type, double factor, std::int64_t position) noexcept;

}  // namespace posenc::suite
