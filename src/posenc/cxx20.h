/// @file
/// Stops the compiler with one clear message if it is set to an older language standard. Every
/// public header includes this file before anything else, directly or through its first include.
#pragma once

#if __cplusplus < 202002L
#error "posenc needs C++20: compile with -std=c++20 or newer"
#endif

/// Marks a member function: Clang warns if the result of the function outlives the object.
#if defined(__clang__)
#define POSENC_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define POSENC_LIFETIMEBOUND
#endif
