/// @file
/// The exception that the library throws.
#pragma once

#include "posenc/cxx20.h"

#include <stdexcept>
#include <string>

namespace posenc {

/// Bad input. The message names the argument, its value and the allowed values. It is thrown before
/// anything is written.
class InvalidArgument : public std::invalid_argument {
 public:
  /// what() is one line of printable characters. Other characters, which names and values may
  /// contain, are escaped ("\\n"), and the middle of a line of more than 1000 bytes is left out.
  explicit InvalidArgument(const std::string& message);
};

}  // namespace posenc
