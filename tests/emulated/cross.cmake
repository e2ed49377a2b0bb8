# Toolchain file: Debian's cross compiler for POSENC_CROSS_TARGET (aarch64, riscv64, powerpc64le,
# s390x, or x86_64-w64-mingw32 for Windows). Libraries are found only among those that
# tests/emulated/test-emulated.sh has staged.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POSENC_CROSS_TARGET)
if(POSENC_CROSS_TARGET MATCHES mingw)
  set(CMAKE_SYSTEM_NAME Windows)
  set(CMAKE_SYSTEM_PROCESSOR AMD64)
  set(posenc_triplet ${POSENC_CROSS_TARGET})
  set(posenc_variant -posix)  # the compiler whose standard library has threads
  set(CMAKE_RC_COMPILER ${posenc_triplet}-windres)
  # The programs then need no DLLs of the compiler.
  set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
  find_program(CMAKE_CROSSCOMPILING_EMULATOR NAMES wine64 wine PATHS /usr/lib/wine)
else()
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${POSENC_CROSS_TARGET})
  set(posenc_triplet ${POSENC_CROSS_TARGET}-linux-gnu)
endif()
set(CMAKE_C_COMPILER ${posenc_triplet}-gcc${posenc_variant})
set(CMAKE_CXX_COMPILER ${posenc_triplet}-g++${posenc_variant})

set(CMAKE_FIND_ROOT_PATH /usr/${posenc_triplet}
                         ${CMAKE_CURRENT_LIST_DIR}/../../build/${POSENC_CROSS_TARGET}-prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
