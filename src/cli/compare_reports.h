// The accuracy reports of two documents side by side.
#pragma once

#include <regex>
#include <string>

namespace posenc::cli {

/// Their errors over the whole table, by position, and by channel, for the backends whose names
/// match. Backends with the same errors share a column. Empty unless both documents have accuracy
/// reports, all of one table. Throws InvalidArgument, which names the file, if one cannot be used.
std::string reports_side_by_side(const std::string& a, const std::string& b,
                                 const std::regex& names);

}  // namespace posenc::cli
