# Toolchain file: Debian's cross compiler for POSENC_CROSS_TARGET (aarch64, riscv64, powerpc64le,
# s390x, x86_64-w64-mingw32 for Windows, or wasm32 for WebAssembly). CMake finds only libraries that
# tests/emulated/test-emulated.sh has staged.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POSENC_CROSS_TARGET)
if(POSENC_CROSS_TARGET STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  return()  # a build for this machine
endif()
if(POSENC_CROSS_TARGET MATCHES mingw)
  set(CMAKE_SYSTEM_NAME Windows)
  set(CMAKE_SYSTEM_PROCESSOR AMD64)
  set(posenc_triplet ${POSENC_CROSS_TARGET})
  set(posenc_variant -posix)  # the compiler whose standard library has threads
  set(CMAKE_RC_COMPILER ${posenc_triplet}-windres)
  # Static programs need no DLLs of the compiler.
  set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
  find_program(CMAKE_CROSSCOMPILING_EMULATOR NAMES wine64 wine PATHS /usr/lib/wine)
elseif(POSENC_CROSS_TARGET STREQUAL wasm32)
  include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
  set(CMAKE_CXX_FLAGS_INIT "-msimd128 -fwasm-exceptions")
  # Let programs read files of the host.
  set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-sNODERAWFS -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -sEXIT_RUNTIME")
else()
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${POSENC_CROSS_TARGET})
  set(posenc_triplet ${POSENC_CROSS_TARGET}-linux-gnu)
endif()
if(posenc_triplet)
  set(CMAKE_C_COMPILER ${posenc_triplet}-gcc${posenc_variant})
  set(CMAKE_CXX_COMPILER ${posenc_triplet}-g++${posenc_variant})
  list(APPEND CMAKE_FIND_ROOT_PATH /usr/${posenc_triplet})
endif()
list(APPEND CMAKE_FIND_ROOT_PATH
  ${CMAKE_CURRENT_LIST_DIR}/../../build/${POSENC_CROSS_TARGET}-prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
