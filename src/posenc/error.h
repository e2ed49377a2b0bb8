/// @file
/// The exception that the library throws.
#pragma once

#include "posenc/export.h"

#include <stdexcept>

namespace POSENC_API posenc {

/// Bad input. The message names the argument, its value and the allowed values. It is thrown before
/// anything is written.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace posenc
