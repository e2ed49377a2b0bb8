// Stops a compiler that is set to an older language with one line, before anything else fails.
// Every public header includes this file first, itself or through the first header that it
// includes.
#pragma once

#if __cplusplus < 202002L
#error "posenc needs C++20: compile with -std=c++20 or newer"
#endif
