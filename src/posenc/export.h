// What a shared library shows to programs.
#pragma once

#include "posenc/cxx20.h"

/// Stands in the namespace of every public header: what it declares is exported, and all else is
/// hidden.
#define POSENC_API [[gnu::visibility("default")]]
