// Figures for people: a sensible number of digits, with units.
#pragma once

#include "posenc/isa.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace posenc::cli {

/// "paper, inclusive": the names of an enumeration's values.
template <class Enum, std::size_t count>
std::string names_text(const Enum (&values)[count]) {
  std::string text;
  for (const Enum value : values)
    text += (text.empty() ? "" : ", ") + std::string(to_string(value));
  return text;
}

std::string error_text(double error);        ///< "2.98e-08", "0"
std::string ulp_text(double ulp);            ///< "0.500", "1785.5", "2.73e+05"
std::string percent_text(double share);      ///< "99.9998 %"; never 100 for a share below 1
std::string count_text(std::int64_t count);  ///< "2 560 000"
std::string bytes_text(std::int64_t bytes);  ///< "9.8 MiB"
std::string seconds_text(double seconds);    ///< "1.23 ms"
std::string threads_text(int threads);       ///< "1 thread", "2 threads"
std::string shape_text(const EncodingSpec& spec, RowRange rows);  ///< "5000 x 512"
std::string spec_text(
    const EncodingSpec& spec);              ///< "base 10000, layout interleaved, spacing paper"
std::string positions_text(RowRange rows);  ///< "0 .. 4999"
/// "plain up to 8 MiB, then non-temporal"
std::string stores_text(std::int64_t most_cached_bytes);

/// The name, with a mark if it is a peer: "sleef_u10*".
std::string marked_name(std::string_view backend, bool is_peer);
/// The table, and what the mark means if the table has one.
std::string with_mark_explained(std::string table);

}  // namespace posenc::cli
