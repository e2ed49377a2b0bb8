/// @file
/// The visibility of symbols in a shared library.
#pragma once

#include "posenc/cxx20.h"

/// An attribute of the namespace of every public header: its declarations are exported. Everything
/// else is hidden. Windows has no such attribute, and posenc is a static library there.
#if defined(_WIN32)
#define POSENC_API
#else
#define POSENC_API [[gnu::visibility("default")]]
#endif
