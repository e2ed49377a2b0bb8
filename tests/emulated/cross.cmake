# Toolchain file: Debian's cross compiler for POSENC_CROSS_TARGET (aarch64, riscv64, powerpc64le or
# s390x). Libraries are found only among those that tests/emulated/test-emulated.sh has staged.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POSENC_CROSS_TARGET)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${POSENC_CROSS_TARGET})
set(CMAKE_C_COMPILER ${POSENC_CROSS_TARGET}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${POSENC_CROSS_TARGET}-linux-gnu-g++)

set(CMAKE_FIND_ROOT_PATH /usr/${POSENC_CROSS_TARGET}-linux-gnu
                         ${CMAKE_CURRENT_LIST_DIR}/../../build/${POSENC_CROSS_TARGET}-prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
